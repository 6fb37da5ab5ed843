package cloud

import "github.com/tabard-dev/tabard/internal/core/fault"

// classes are the codes whose class their HTTP status does not tell. The codes
// are those of AWS's service models and of the SDKs' retry rules; the last
// group is awsauth's own.
var classes = map[string]fault.Class{
	"BandwidthLimitExceeded":                 fault.Throttled,
	"EC2ThrottledException":                  fault.Throttled,
	"LimitExceededException":                 fault.Throttled,
	"PriorRequestNotComplete":                fault.Throttled,
	"ProvisionedThroughputExceededException": fault.Throttled,
	"RequestLimitExceeded":                   fault.Throttled,
	"RequestThrottled":                       fault.Throttled,
	"RequestThrottledException":              fault.Throttled,
	"SlowDown":                               fault.Throttled,
	"Throttling":                             fault.Throttled,
	"ThrottledException":                     fault.Throttled,
	"ThrottlingException":                    fault.Throttled,
	"TooManyRequestsException":               fault.Throttled,
	"TransactionInProgressException":         fault.Throttled,

	"InternalError":           fault.Retry,
	"InternalFailure":         fault.Retry,
	"InternalServerError":     fault.Retry,
	"OperationAborted":        fault.Retry,
	"RequestTimeout":          fault.Retry,
	"RequestTimeoutException": fault.Retry,
	"ServiceFailure":          fault.Retry,
	"ServiceUnavailable":      fault.Retry,

	"AccessDenied":          fault.Denied,
	"AccessDeniedException": fault.Denied,
	"AllAccessDisabled":     fault.Denied,
	"Forbidden":             fault.Denied,
	"UnauthorizedOperation": fault.Denied,

	"AuthFailure":                  fault.Unauthenticated,
	"ExpiredToken":                 fault.Unauthenticated,
	"ExpiredTokenException":        fault.Unauthenticated,
	"IDPCommunicationError":        fault.Unauthenticated,
	"IDPRejectedClaim":             fault.Unauthenticated,
	"IncompleteSignature":          fault.Unauthenticated,
	"InvalidAccessKeyId":           fault.Unauthenticated,
	"InvalidClientTokenId":         fault.Unauthenticated,
	"InvalidIdentityToken":         fault.Unauthenticated,
	"InvalidSignatureException":    fault.Unauthenticated,
	"InvalidToken":                 fault.Unauthenticated,
	"MissingAuthenticationToken":   fault.Unauthenticated,
	"RegionDisabledException":      fault.Unauthenticated,
	"RequestExpired":               fault.Unauthenticated,
	"RequestTimeTooSkewed":         fault.Unauthenticated,
	"SignatureDoesNotMatch":        fault.Unauthenticated,
	"UnrecognizedClientException":  fault.Unauthenticated,
	"AuthorizationHeaderMalformed": fault.Invalid,

	"NotFound":                  fault.Gone,
	"ResourceNotFoundException": fault.Gone,

	"BucketAlreadyExists":     fault.Exists,
	"BucketAlreadyOwnedByYou": fault.Exists,
	"EntityAlreadyExists":     fault.Exists,

	"ConcurrentModification":     fault.Changed,
	"ConditionalRequestConflict": fault.Changed,
	"PreconditionFailed":         fault.Changed,

	// A server that cannot do it will not learn it by waiting.
	"NotImplemented": fault.Invalid,

	"TokenUnreadable":       fault.Unauthenticated,
	"WebIdentityIncomplete": fault.Unauthenticated,
	"WebIdentityMissing":    fault.Unauthenticated,
	"SessionInvalid":        fault.Unauthenticated,
}
