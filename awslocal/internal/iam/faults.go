package iam

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// All texts of IAM's errors are here, so that one that turns out to differ from
// AWS's is corrected in one place.

func notFound(format string, args ...any) *call.Fault {
	return &call.Fault{Code: "NoSuchEntity", Status: http.StatusNotFound, Message: fmt.Sprintf(format, args...)}
}

func noRole(name string) *call.Fault { return notFound("The role with name %s cannot be found.", name) }

func noUser(name string) *call.Fault { return notFound("The user with name %s cannot be found.", name) }

func noGroup(name string) *call.Fault {
	return notFound("The group with name %s cannot be found.", name)
}

func noInlinePolicy(of *holder, name string) *call.Fault {
	return notFound("The %s policy with name %s cannot be found.", of.kind, name)
}

func noKey(id string) *call.Fault { return notFound("The Access Key with id %s cannot be found", id) }

func noPolicy(arn string) *call.Fault { return notFound("Policy %s was not found.", arn) }

func noVersion(arn, id string) *call.Fault {
	return notFound("Policy %s version %s does not exist or is not attachable.", arn, id)
}

func notAttachable(arn string) *call.Fault {
	return notFound("Policy %s does not exist or is not attachable.", arn)
}

func noBoundary(arn string) *call.Fault {
	return notFound("Scope ARN: %s does not exist or is not attachable.", arn)
}

func noProvider(arn string) *call.Fault {
	return notFound("OpenIDConnect Provider not found for arn %s", arn)
}

func exists(format string, args ...any) *call.Fault {
	return &call.Fault{Code: "EntityAlreadyExists", Status: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

func roleExists(name string) *call.Fault { return exists("Role with name %s already exists.", name) }

func userExists(name string) *call.Fault { return exists("User with name %s already exists.", name) }

func policyExists(name string) *call.Fault {
	return exists("A policy called %s already exists. Duplicate names are not allowed.", name)
}

func providerExists(url string) *call.Fault {
	return exists("Provider with url %s already exists.", url)
}

const (
	textDetach         = "Cannot delete entity, must detach all policies first."
	textDeletePolicies = "Cannot delete entity, must delete policies first."
	textDeleteKeys     = "Cannot delete entity, must delete access keys first."
	textPolicyAttached = "Cannot delete a policy attached to entities."
	textVersionsLeft   = "This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy."
	textDefaultVersion = "Cannot delete the default version of a policy."
)

func conflict(message string) *call.Fault {
	return &call.Fault{Code: "DeleteConflict", Status: http.StatusConflict, Message: message}
}

func overLimit(format string, args ...any) *call.Fault {
	return &call.Fault{Code: "LimitExceeded", Status: http.StatusConflict, Message: fmt.Sprintf(format, args...)}
}

func overQuota(name string, quota int) *call.Fault {
	return overLimit("Cannot exceed quota for %s: %d", name, quota)
}

func trustTooLong() *call.Fault { return overQuota("ACLSizePerRole", maxTrust) }

func inlineTooLong(of *holder) *call.Fault {
	return overLimit("Maximum policy size of %d bytes exceeded for %s %s", inlineRoom[of.kind], of.kind, of.name)
}

func managedTooLong() *call.Fault { return overQuota("PolicySize", maxManaged) }

func tooManyVersions() *call.Fault {
	return overLimit("A managed policy can have up to %d versions. Before you create a new version, you must delete an existing version.", maxVersions)
}

func tooManyAttached(to *holder) *call.Fault {
	quota := "PoliciesPerRole"
	if to.kind == userKind {
		quota = "PoliciesPerUser"
	}
	return overQuota(quota, maxAttached)
}

func tooManyKeys() *call.Fault {
	return overQuota("AccessKeysPerUser", maxKeys)
}

func tooManyTags() *call.Fault {
	return overLimit("The number of tags has reached the maximum limit.")
}

func tooManyClients() *call.Fault {
	return overQuota("ClientIdsPerOpenIdConnectProvider", maxClients)
}

func tooManyProviders() *call.Fault {
	return overQuota("OpenIdConnectProvidersPerAccount", maxProviders)
}

func badInput(message string) *call.Fault {
	return &call.Fault{Code: "InvalidInput", Status: http.StatusBadRequest, Message: message}
}

func duplicateTag() *call.Fault {
	return badInput("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
}

func badBoundary(arn string) *call.Fault {
	return badInput(fmt.Sprintf("Value (%s) for parameter PermissionsBoundary is invalid.", arn))
}

func badARN(arn string) *call.Fault { return badInput(fmt.Sprintf("ARN %s is not valid.", arn)) }

func badURL() *call.Fault { return badInput("Invalid Open ID Connect Provider URL") }

func noConnection(url string) *call.Fault {
	return &call.Fault{Code: "OpenIdIdpCommunicationError", Status: http.StatusBadRequest, Message: "Could not connect to " + url}
}

func tooManyThumbprints() *call.Fault {
	return badInput("Thumbprint list must contain fewer than 5 entries.")
}

func badThumbprint() *call.Fault {
	return badInput("A thumbprint must be 40 hexadecimal digits, the SHA-1 hash of a certificate.")
}

func badAction(action string) *call.Fault {
	return badInput(fmt.Sprintf("Invalid action name: %s. Name one action of one service, without wildcards, such as s3:GetObject.", action))
}

// badFilter is of GetAccountAuthorizationDetails.
func badFilter(kinds []string) *call.Fault {
	return invalid(fmt.Sprintf("1 validation error detected: Value '[%s]' at 'filter' failed to satisfy constraint: "+
		"Member must satisfy constraint: [Member must satisfy enum value set: [User, Role, Group, LocalManagedPolicy, AWSManagedPolicy]]",
		strings.Join(kinds, ", ")))
}

func badHandlingOption(option string) *call.Fault {
	return badInput("Invalid ResourceHandlingOption: " + option)
}

func badCaller(arn string) *call.Fault {
	return badInput(fmt.Sprintf("CallerArn %s is not the ARN of an IAM user.", arn))
}

func noCaller() *call.Fault {
	return badInput("CallerArn is required with ResourcePolicy, unless PolicySourceArn is the ARN of an IAM user.")
}

func manyBoundaries() *call.Fault {
	return badInput("PermissionsBoundaryPolicyInputList must contain at most one policy.")
}

func badContextKey(name string) *call.Fault {
	return badInput(fmt.Sprintf("Invalid context key name: %s. It must have 5 to 256 characters and come once.", name))
}

func badContextType(name, typed string) *call.Fault {
	return badInput(fmt.Sprintf("Invalid type %q of context key %s.", typed, name))
}

func badContextValues(name, typed string) *call.Fault {
	return badInput(fmt.Sprintf("The values of context key %s are not of type %s.", name, typed))
}

// notEvaluated is of a policy that a simulation is given.
func notEvaluated(message string) *call.Fault {
	return &call.Fault{Code: "PolicyEvaluation", Status: http.StatusInternalServerError, Message: message}
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

func noUserCredentials() *call.Fault {
	return invalid("Must specify userName when calling with non-User credentials")
}

func malformed(message string) *call.Fault {
	return &call.Fault{Code: "MalformedPolicyDocument", Status: http.StatusBadRequest, Message: message}
}

func badPrincipal(kind, name string) *call.Fault {
	return malformed(fmt.Sprintf("Invalid principal in policy: %q:%q", kind, name))
}
