package fault

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Codes of the errors that awsauth finds before AWS is asked.
const (
	// CodeInvalidIdentity is an identity that says no base, or an ARN or region
	// in it that is none.
	CodeInvalidIdentity = "InvalidIdentity"
	// CodeCredentialsMissing is neither a web identity nor a Secret.
	CodeCredentialsMissing = identity.CodeCredentialsMissing
	// CodeWebIdentityIncomplete is an environment with half a web identity.
	CodeWebIdentityIncomplete = identity.CodeWebIdentityIncomplete
	// CodeTokenUnreadable is a token file that is absent, empty or not to be
	// read.
	CodeTokenUnreadable = "TokenUnreadable"
	// CodeTokenUnavailable is a token of a ServiceAccount that was requested and not
	// given: the ServiceAccount does not exist, or this process may not ask.
	CodeTokenUnavailable = "TokenUnavailable"
	// CodeSecretNotFound is a Secret that does not exist.
	CodeSecretNotFound = "SecretNotFound"
	// CodeSecretUnreadable is a Secret that could not be read now.
	CodeSecretUnreadable = "SecretUnreadable"
	// CodeSecretInvalid is a Secret without usable credentials.
	CodeSecretInvalid = "SecretInvalid"
	// CodeContainerInvalid is an environment whose container credentials cannot
	// be used.
	CodeContainerInvalid = "ContainerCredentialsInvalid"
	// CodeContainerRefused is an agent that gives no credentials.
	CodeContainerRefused = "ContainerCredentialsRefused"
	// CodeRegionMissing is no region in the identity or the environment.
	CodeRegionMissing = "RegionMissing"
	// CodePartitionMismatch is a role of another partition than the region's.
	CodePartitionMismatch = "PartitionMismatch"
	// CodeEndpointInvalid is an endpoint in the environment that is no URL.
	CodeEndpointInvalid = "EndpointInvalid"
	// CodeBundleInvalid is a certificate bundle that holds nothing, or a file
	// that cannot be read.
	CodeBundleInvalid = "CABundleInvalid"
	// CodeBundleUnreadable is a bundle in the cluster that could not be read now.
	CodeBundleUnreadable = "CABundleUnreadable"
	// CodeSessionInvalid is a person's configuration that the SDK refuses.
	CodeSessionInvalid = "SessionInvalid"
	// CodeRoleWithdrawn is a call that was not made because its role may not be used
	// any longer: decide anew.
	CodeRoleWithdrawn = "RoleWithdrawn"
)

// classes are the codes whose class their HTTP status does not tell: those of
// AWS's service models and of the SDKs' retry rules.
var classes = map[string]Class{
	"BandwidthLimitExceeded":                 Throttled,
	"EC2ThrottledException":                  Throttled,
	"LimitExceededException":                 Throttled,
	"PriorRequestNotComplete":                Throttled,
	"ProvisionedThroughputExceededException": Throttled,
	"RequestLimitExceeded":                   Throttled,
	"RequestThrottled":                       Throttled,
	"RequestThrottledException":              Throttled,
	"SlowDown":                               Throttled,
	"Throttling":                             Throttled,
	"ThrottledException":                     Throttled,
	"ThrottlingException":                    Throttled,
	"TooManyRequestsException":               Throttled,
	"TransactionInProgressException":         Throttled,

	"InternalError":           Transient,
	"InternalFailure":         Transient,
	"InternalServerError":     Transient,
	"OperationAborted":        Transient,
	"RequestTimeout":          Transient,
	"RequestTimeoutException": Transient,
	"ServiceFailure":          Transient,
	"ServiceUnavailable":      Transient,
	"Unavailable":             Transient,

	"AccessDenied":          Unauthorized,
	"AccessDeniedException": Unauthorized,
	"AllAccessDisabled":     Unauthorized,
	"Forbidden":             Unauthorized,
	"UnauthorizedOperation": Unauthorized,

	"AuthFailure":                 CredentialsRejected,
	"Blocked":                     CredentialsRejected,
	"IDPRejectedClaim":            CredentialsRejected,
	"IncompleteSignature":         CredentialsRejected,
	"InvalidAccessKeyId":          CredentialsRejected,
	"InvalidClientTokenId":        CredentialsRejected,
	"InvalidIdentityToken":        CredentialsRejected,
	"InvalidSignatureException":   CredentialsRejected,
	"InvalidToken":                CredentialsRejected,
	"MissingAuthenticationToken":  CredentialsRejected,
	"OptInRequired":               CredentialsRejected,
	"SignatureDoesNotMatch":       CredentialsRejected,
	"UnrecognizedClientException": CredentialsRejected,

	"ExpiredToken":            CredentialsUnavailable,
	"ExpiredTokenException":   CredentialsUnavailable,
	"IDPCommunicationError":   CredentialsUnavailable,
	"RegionDisabledException": CredentialsUnavailable,

	"RequestExpired":       ClockSkew,
	"RequestTimeTooSkewed": ClockSkew,
}

// own are the codes of what awsauth finds out by itself. Their texts are written
// for everybody's eyes.
var own = map[string]Class{
	CodeContainerRefused:      CredentialsRejected,
	CodeTokenUnreadable:       CredentialsUnavailable,
	CodeTokenUnavailable:      CredentialsUnavailable,
	CodeSecretUnreadable:      CredentialsUnavailable,
	CodeBundleUnreadable:      CredentialsUnavailable,
	CodeRoleWithdrawn:         Transient,
	CodeInvalidIdentity:       InvalidConfig,
	CodeCredentialsMissing:    InvalidConfig,
	CodeWebIdentityIncomplete: InvalidConfig,
	CodeSecretNotFound:        InvalidConfig,
	CodeSecretInvalid:         InvalidConfig,
	CodeContainerInvalid:      InvalidConfig,
	CodeRegionMissing:         InvalidConfig,
	CodePartitionMismatch:     InvalidConfig,
	CodeEndpointInvalid:       InvalidConfig,
	CodeBundleInvalid:         InvalidConfig,
	CodeSessionInvalid:        InvalidConfig,
}

// IsThrottle says whether a code asks for less, later.
func IsThrottle(code string) bool { return classes[code] == Throttled }

// IsOutOfDate says whether a code may mean that credentials ended, so that new
// ones are worth one more try. EC2 says RequestExpired of a session that is over
// as of a signature that is too old.
func IsOutOfDate(code string) bool {
	switch code {
	case "ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "InvalidAccessKeyId",
		"InvalidToken", "UnrecognizedClientException", "AuthFailure", "SignatureDoesNotMatch":
		return true
	}
	return false
}

// classOf decides by code, then by status.
func classOf(code, service, operation string, err error, blame smithy.ErrorFault) Class {
	class, ok := classes[code]
	if !ok {
		class, ok = own[code]
	}
	switch {
	case ok && class == CredentialsRejected && Skewed(err):
		return ClockSkew
	case ok && class == Unauthorized && service == "STS" && isBecoming(operation):
		return CredentialsRejected
	case ok:
		return class
	}
	switch status := statusOf(err); {
	case status == http.StatusTooManyRequests:
		return Throttled
	case status == http.StatusForbidden:
		return Unauthorized
	case status == http.StatusNotImplemented:
		return Request
	case status >= http.StatusInternalServerError, status == 0 && blame != smithy.FaultClient:
		return Transient
	}
	return Request
}

// isBecoming says whether an operation is the way to credentials.
func isBecoming(operation string) bool {
	return operation == "AssumeRoleWithWebIdentity" || operation == "AssumeRole"
}

// maxSkew is how far a signature's time may be from AWS's (IAM User Guide:
// troubleshoot signed requests).
const maxSkew = 5 * time.Minute

// Skewed says whether the answer's date is far from the request's: services
// refuse such a signature with the same code as a wrong one.
func Skewed(err error) bool {
	var refused *smithyhttp.ResponseError
	if !errors.As(err, &refused) || refused.Response == nil || refused.Response.Response == nil || refused.Response.Request == nil {
		return false
	}
	theirs, err := http.ParseTime(refused.Response.Header.Get("Date"))
	if err != nil {
		return false
	}
	ours, err := time.Parse("20060102T150405Z", refused.Response.Request.Header.Get("X-Amz-Date"))
	return err == nil && theirs.Sub(ours).Abs() > maxSkew
}

// statusOf is the HTTP status that an error came with, 0 for none.
func statusOf(err error) int {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// maxRetryAfter bounds what is believed of a header Retry-After.
const maxRetryAfter = time.Hour

// retryAfter is what the header Retry-After asks for: whole seconds, or a date,
// which counts from the answer's own (RFC 9110, 10.2.3). 0 is no such wish.
func retryAfter(err error) time.Duration {
	var refused *smithyhttp.ResponseError
	if !errors.As(err, &refused) || refused.Response == nil || refused.Response.Response == nil {
		return 0
	}
	header := refused.Response.Header
	wish := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(wish); err == nil {
		return min(max(time.Duration(seconds), 0), maxRetryAfter/time.Second) * time.Second
	}
	until, err := http.ParseTime(wish)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), maxRetryAfter)
}
