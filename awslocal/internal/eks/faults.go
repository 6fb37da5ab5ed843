package eks

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// All texts of the errors of EKS and EKS Auth are here, so that one that turns
// out to differ from AWS's is corrected in one place.

// namesCluster are the errors whose bodies may have the member clusterName.
var namesCluster = map[string]bool{
	"ResourceNotFoundException": true, "ResourceInUseException": true, "InvalidRequestException": true,
	"InvalidParameterException": true, "ResourceLimitExceededException": true, "ServerException": true, "ThrottlingException": true,
}

func invalidParameter(format string, values ...any) *call.Fault {
	return &call.Fault{Code: "InvalidParameterException", Status: http.StatusBadRequest, Message: fmt.Sprintf(format, values...)}
}

func invalidRequest(format string, values ...any) *call.Fault {
	return &call.Fault{Code: "InvalidRequestException", Status: http.StatusBadRequest, Message: fmt.Sprintf(format, values...)}
}

func notFound(format string, values ...any) *call.Fault {
	return &call.Fault{Code: "ResourceNotFoundException", Status: http.StatusNotFound, Message: fmt.Sprintf(format, values...)}
}

func inUse(format string, values ...any) *call.Fault {
	return &call.Fault{Code: "ResourceInUseException", Status: http.StatusConflict, Message: fmt.Sprintf(format, values...)}
}

func limitExceeded(format string, values ...any) *call.Fault {
	return &call.Fault{Code: "ResourceLimitExceededException", Status: http.StatusBadRequest, Message: fmt.Sprintf(format, values...)}
}

// TagResource and its like have errors of their own.

func badTagRequest(format string, values ...any) *call.Fault {
	return &call.Fault{Code: "BadRequestException", Status: http.StatusBadRequest, Message: fmt.Sprintf(format, values...)}
}

func noTagged(arn string) *call.Fault {
	return &call.Fault{Code: "NotFoundException", Status: http.StatusNotFound, Message: "The specified resource " + arn + " could not be found."}
}

const (
	textRequired        = "The parameter %s is required."
	textClusterName     = "The name of a cluster has 1 to 100 letters, digits, - and _, and begins with a letter or a digit."
	textClusterRole     = "Role with arn: %s, could not be assumed because it does not exist or the trusted entity is not correct"
	textAuthentication  = "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."
	textBadMode         = "The authentication mode %q is none of API, API_AND_CONFIG_MAP and CONFIG_MAP."
	textBadInclude      = "The only value of the parameter include is \"all\", it is %q."
	textBadSize         = "The value %q of maxResults is not a number from 1 to 100."
	textBadNextToken    = "The value of nextToken is not one that a list has answered."
	textTooManyClusters = "Cluster limit exceeded for account: an account has at most %d in a region."

	textPrincipalForm  = "The specified principalArn is invalid: it must be the ARN of an IAM role or user, not that of a session."
	textPrincipal      = "The specified principalArn is invalid: invalid principal."
	textEntryExists    = "The specified access entry resource is already in use on this cluster."
	textNoEntry        = "The specified principalArn could not be found: %s"
	textEntryType      = "The type %q of access entry is none of %s."
	textNodeRole       = "An access entry of type %s is for a role."
	textNodeNames      = "An access entry of type %s has its own username and groups; leave out username and kubernetesGroups."
	textGroup          = "The Kubernetes group %q must not be empty nor begin with one of %s."
	textUsername       = "The username %q must not begin with one of %s."
	textSessionName    = "The username %q has a variable for the session's name, which needs a colon before it."
	textNoAccessPolicy = "The specified policyArn is invalid: %s is no access policy of Amazon EKS."
	textNotAssociated  = "The access policy %s is not associated with the access entry."
	textPolicyOnNode   = "Access policies cannot be associated with an access entry of type %s."
	textScopeType      = "The type %q of the access scope is neither cluster nor namespace."
	textScopeNames     = "An access scope of type namespace needs namespaces, and one of type cluster has none."

	textNamespace         = "The namespace %q is no name that Kubernetes takes."
	textServiceAccount    = "The service account %q is no name that Kubernetes takes."
	textRoleForm          = "The %s %q is not the ARN of an IAM role."
	textRoleAccount       = "The role %s must be in the cluster's account %s."
	textRoleMissing       = "Role provided in the request does not exist."
	textAssociationExists = "Association already exists: %s"
	textNoAssociation     = "No pod identity association %s found on cluster %s."
	textPolicyWithTags    = "An association with a policy needs disableSessionTags to be true."
	textPolicyForm        = "The policy of the association is invalid: %s"
	textTooManyAssociated = "The cluster has %d pod identity associations, which is as many as there may be."

	textTagKey      = "A tag key must have 1 to 128 letters, digits, spaces or _.:/=+-@ characters."
	textTagValue    = "The value of tag %s must have at most 256 letters, digits, spaces or _.:/=+-@ characters."
	textTagReserved = "Tag keys must not begin with the reserved prefix aws:."
	textTagCount    = "A resource has at most %d tags."
	textTagNone     = "At least one tag is required."
	textTagARN      = "%q is not the ARN of a cluster, an access entry or a pod identity association in region %s."

	textToken         = "The token must be a JSON Web Token of three parts."
	textTokenClaim    = "The token has no usable claim %s."
	textTokenKey      = "The token is not signed by a key of the cluster's issuer."
	textTokenIssuer   = "The token's issuer is not that of the cluster."
	textTokenAudience = "The token's audience is not " + Audience + "."
	textTokenExpired  = "The token has expired: current date/time %d must be before the expiration date/time %d."
	textTokenEarly    = "The token is not valid yet."
	textTokenPod      = "The token is not bound to a pod: the claim kubernetes.io must have namespace, serviceaccount and pod with names and UIDs."
	textNoneForPod    = "No pod identity association was found for service account %s in namespace %s of cluster %s."
	textMayNotAssume  = "Unauthorized Exception! EKS does not have permissions to assume the associated role."

	textNoIssuer   = "No cluster is registered whose issuer is that of the token."
	textTwoIssuers = "Several clusters are registered with the token's issuer: %s. The agent cannot tell which is its own."
)

func noCluster(name string) *call.Fault { return notFound("No cluster found for name: %s.", name) }

func clusterExists(name string) *call.Fault {
	return inUse("Cluster already exists with name: %s", name)
}

func unknownOperation(service string, r *http.Request) *call.Fault {
	return &call.Fault{Code: "UnknownOperationException", Status: http.StatusNotFound,
		Message: fmt.Sprintf("The local AWS does not play the operation of %s that is called by %s %s.", service, r.Method, strings.ToValidUTF8(r.URL.Path, "?"))}
}

// EKS Auth's own errors are all of status 400 (API reference:
// AssumeRoleForPodIdentity).

func badToken(format string, values ...any) *call.Fault {
	return &call.Fault{Code: "InvalidTokenException", Status: http.StatusBadRequest, Message: fmt.Sprintf(format, values...)}
}

func expiredToken(now, expiry int64) *call.Fault {
	return &call.Fault{Code: "ExpiredTokenException", Status: http.StatusBadRequest, Message: fmt.Sprintf(textTokenExpired, now, expiry)}
}

func mayNotAssume() *call.Fault {
	return &call.Fault{Code: "AccessDeniedException", Status: http.StatusBadRequest, Message: textMayNotAssume}
}
