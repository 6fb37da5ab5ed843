package cloud

import (
	authfault "github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// codes are those of AWS's service models that a decision must tell apart, and
// that awsauth does not.
var codes = map[string]fault.Class{
	"AuthorizationHeaderMalformed": fault.Invalid,

	"NotFound":                  fault.Gone,
	"ResourceNotFoundException": fault.Gone,

	"BucketAlreadyExists":     fault.Exists,
	"BucketAlreadyOwnedByYou": fault.Exists,
	"EntityAlreadyExists":     fault.Exists,
	"ResourceInUseException":  fault.Exists,

	"ConcurrentModification":     fault.Changed,
	"ConditionalRequestConflict": fault.Changed,
	"PreconditionFailed":         fault.Changed,

	// Whoever assumes a role is somebody already, who may not.
	"AccessDenied": fault.Denied,

	authfault.CodeCredentialsMissing:    fault.Unauthenticated,
	authfault.CodeWebIdentityIncomplete: fault.Unauthenticated,
	authfault.CodeSessionInvalid:        fault.Unauthenticated,
	authfault.CodeSecretNotFound:        fault.Unauthenticated,
	authfault.CodeSecretInvalid:         fault.Unauthenticated,
}

// classes are awsauth's, as a decision sees them.
var classes = map[authfault.Class]fault.Class{
	authfault.InvalidConfig:          fault.Invalid,
	authfault.CredentialsRejected:    fault.Unauthenticated,
	authfault.CredentialsUnavailable: fault.Unauthenticated,
	authfault.ClockSkew:              fault.Unauthenticated,
	authfault.Unauthorized:           fault.Denied,
	authfault.Throttled:              fault.Throttled,
	authfault.Transient:              fault.Retry,
	authfault.Certificate:            fault.Retry,
	authfault.Canceled:               fault.Retry,
	authfault.Request:                fault.Invalid,
}
