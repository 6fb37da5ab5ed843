package sts

import (
	"fmt"
	"net/http"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

// All texts of STS's errors are here, so that one that turns out to differ from
// AWS's is corrected in one place. Their odd spacing is AWS's.

func badRequest(code, message string) *call.Fault {
	return &call.Fault{Code: code, Status: http.StatusBadRequest, Message: message}
}

func badToken(message string) *call.Fault { return badRequest("InvalidIdentityToken", message) }

const (
	textNoKey        = "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements"
	textInvalid      = "The web identity token provided could not be validated. Check that it is signed by its issuer, with a key that the issuer publishes."
	textNotJWT       = "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)"
	textUntrusted    = "OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint"
	textUnreachable  = "There was an error communicating with the identity provider. Check that it answers over https, and try again."
	textAudience     = "Incorrect token audience"
	textAudiences    = "Token audience contains more than one audience while authorized party is not present"
	textNotPermitted = "Not authorized to perform sts:AssumeRoleWithWebIdentity"
	textChained      = "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining."
	textTooLong      = "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."
	textRegion       = "STS is not activated in this region for account:%s. Your account administrator can activate STS in this region using the IAM Console."

	textNotBySession = "Cannot call %s with session credentials"
	textBadARN       = "Request ARN is invalid"
	textTogether     = "1 validation error detected: Value at 'policy' failed to satisfy constraint: Member must have length less than or equal to 2048, together with the members of policyArns"

	textTagKey         = "A tag key must have 1 to 128 letters, digits, spaces or _.:/=+-@ characters."
	textTagValue       = "The value of tag %s must have at most 256 letters, digits, spaces or _.:/=+-@ characters."
	textTagReserved    = "Tag keys must not begin with the reserved prefix aws:."
	textTagTwice       = "Duplicate tag keys found. Please note that Tag keys are case insensitive."
	textTagNotPassed   = "The specified transitive tag key must be included in the requested tags."
	textTagFixed       = "One of the specified tag keys is a transitive tag key of the calling session, whose value cannot be changed."
	textSourceReserved = "The source identity must not begin with the reserved prefix aws:."
	textSourceFixed    = "The source identity of the calling session cannot be changed."
	textBadClaims      = "The claims of the token that set tags or a source identity are not of the form that is expected."
)

func badParameter(message string) *call.Fault { return badRequest("InvalidParameterValue", message) }

// tokenFault is AWS's answer to a token that could not be read or verified.
func tokenFault(problem *oidc.Error) *call.Fault {
	switch problem.Kind {
	case oidc.Malformed:
		return badToken(textNotJWT)
	case oidc.Incomplete:
		return badToken("Missing a required claim: " + problem.Detail)
	case oidc.Untrusted:
		return badToken(textUntrusted)
	case oidc.Unreachable:
		return badRequest("IDPCommunicationError", textUnreachable)
	case oidc.Retrieval, oidc.UnknownKey:
		return badToken(textNoKey)
	}
	return badToken(textInvalid)
}

func noProvider(issuer string) *call.Fault {
	return badToken("No OpenIDConnect provider found in your account for " + issuer)
}

func expired(now time.Time, expiry int64) *call.Fault {
	return badRequest("ExpiredTokenException", fmt.Sprintf("Token expired: current date/time %d must be before the expiration date/time %d", now.Unix(), expiry))
}

func tooOld(issued int64) *call.Fault {
	return badRequest("ExpiredTokenException", fmt.Sprintf("Token too old: %d", issued))
}

func fromFuture(now time.Time, issued int64) *call.Fault {
	return badToken(fmt.Sprintf("Token issued in the future: current date/time %d must not be before the issue date/time %d", now.Unix(), issued))
}

func notYet(now time.Time, begin int64) *call.Fault {
	return badToken(fmt.Sprintf("Token not yet valid: current date/time %d must not be before the not-before date/time %d", now.Unix(), begin))
}

func notPermitted() *call.Fault { return query.AccessDenied(textNotPermitted) }

func tooLong(message string) *call.Fault { return badRequest("ValidationError", message) }

func malformedPolicy(message string) *call.Fault {
	return badRequest("MalformedPolicyDocument", message)
}

func packedTooLarge(percent int) *call.Fault {
	return badRequest("PackedPolicyTooLarge", fmt.Sprintf("Packed policy consumes %d%% of allotted space, please use smaller policy.", percent))
}

func notBySession(operation string) *call.Fault {
	return query.AccessDenied(fmt.Sprintf(textNotBySession, operation))
}

// regionDisabled is about the account whose role it is (STS: "Managing AWS STS in
// an AWS Region").
func regionDisabled(account string) *call.Fault {
	return &call.Fault{Code: "RegionDisabledException", Status: http.StatusForbidden, Message: fmt.Sprintf(textRegion, account)}
}

// mayNot names no reason: AWS does not tell whether the role is missing.
func mayNot(caller, action, role string) *call.Fault {
	return query.AccessDenied(fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s", caller, action, role))
}
