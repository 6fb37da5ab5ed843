package iam

import (
	"fmt"
	"net/http"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// All texts of IAM's errors are here, so that one that turns out to differ from
// AWS's is corrected in one place.

func notFound(format string, args ...any) *call.Fault {
	return &call.Fault{Code: "NoSuchEntity", Status: http.StatusNotFound, Message: fmt.Sprintf(format, args...)}
}

func noRole(name string) *call.Fault { return notFound("The role with name %s cannot be found.", name) }

func noUser(name string) *call.Fault { return notFound("The user with name %s cannot be found.", name) }

func noRolePolicy(name string) *call.Fault {
	return notFound("The role policy with name %s cannot be found.", name)
}

func noProvider(arn string) *call.Fault {
	return notFound("OpenIDConnect Provider not found for arn %s", arn)
}

func exists(format string, args ...any) *call.Fault {
	return &call.Fault{Code: "EntityAlreadyExists", Status: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

func roleExists(name string) *call.Fault { return exists("Role with name %s already exists.", name) }

func providerExists(url string) *call.Fault {
	return exists("Provider with url %s already exists.", url)
}

func conflict() *call.Fault {
	return &call.Fault{Code: "DeleteConflict", Status: http.StatusConflict, Message: "Cannot delete entity, must delete policies first."}
}

func overLimit(format string, args ...any) *call.Fault {
	return &call.Fault{Code: "LimitExceeded", Status: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

func trustTooLong() *call.Fault {
	return overLimit("Cannot exceed quota for ACLSizePerRole: %d", maxTrust)
}

func inlineTooLong(role string) *call.Fault {
	return overLimit("Maximum policy size of %d bytes exceeded for role %s", maxInline, role)
}

func tooManyTags() *call.Fault {
	return overLimit("The number of tags has reached the maximum limit.")
}

func tooManyClients() *call.Fault {
	return overLimit("Cannot exceed quota for ClientIdsPerOpenIdConnectProvider: %d", maxClients)
}

func tooManyProviders() *call.Fault {
	return overLimit("Cannot exceed quota for OpenIdConnectProvidersPerAccount: %d", maxProviders)
}

func badInput(message string) *call.Fault {
	return &call.Fault{Code: "InvalidInput", Status: http.StatusBadRequest, Message: message}
}

func duplicateTag() *call.Fault {
	return badInput("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
}

func badURL() *call.Fault { return badInput("Invalid Open ID Connect Provider URL") }

func tooManyThumbprints() *call.Fault {
	return badInput("Thumbprint list must contain fewer than 5 entries.")
}

func badThumbprint() *call.Fault {
	return badInput("A thumbprint must be 40 hexadecimal digits, the SHA-1 hash of a certificate.")
}

func invalid(message string) *call.Fault {
	return &call.Fault{Code: "ValidationError", Status: http.StatusBadRequest, Message: message}
}

func badName(parameter string) *call.Fault {
	return invalid(fmt.Sprintf("The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-", parameter))
}

func badPath(parameter string) *call.Fault {
	return invalid(fmt.Sprintf("The specified value for %s is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.", parameter))
}

func badMarker() *call.Fault { return invalid("Invalid Marker.") }

func noUserCredentials() *call.Fault {
	return invalid("Must specify userName when calling with non-User credentials")
}

func malformed(message string) *call.Fault {
	return &call.Fault{Code: "MalformedPolicyDocument", Status: http.StatusBadRequest, Message: message}
}

func badPrincipal(kind, name string) *call.Fault {
	return malformed(fmt.Sprintf("Invalid principal in policy: %q:%q", kind, name))
}
