package awsauth

import (
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Codes of the errors that happen before AWS is asked.
const (
	// CodeInvalidIdentity is an identity that says no base, or an ARN in it
	// that is none.
	CodeInvalidIdentity = "InvalidIdentity"
	// CodeWebIdentityMissing is an environment without a web identity.
	CodeWebIdentityMissing = "WebIdentityMissing"
	// CodeWebIdentityIncomplete is one with half of it.
	CodeWebIdentityIncomplete = "WebIdentityIncomplete"
	// CodeTokenUnreadable is a token file that is absent, empty or not to be
	// read.
	CodeTokenUnreadable = "TokenUnreadable"
	// CodeRegionMissing is no region in the identity or the environment.
	CodeRegionMissing = "RegionMissing"
	// CodeEndpointInvalid is an endpoint in the environment that is no URL.
	CodeEndpointInvalid = "EndpointInvalid"
	// CodeBundleInvalid is a certificate bundle that is unreadable or holds
	// nothing.
	CodeBundleInvalid = "CABundleInvalid"
	// CodeSessionInvalid is a person's configuration that the SDK refuses.
	CodeSessionInvalid = "SessionInvalid"
)

// Error is why no identity could be had before AWS was asked. It has the shape
// of the SDK's own errors (smithy.APIError), so that whoever classes errors by
// code needs to know one shape. It never holds a secret.
type Error struct {
	// Code is one of the constants above.
	Code string
	// Message says what was seen, what was expected and what to do.
	Message string
	cause   error
}

var _ smithy.APIError = (*Error)(nil)

// Error is "CODE: MESSAGE".
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap returns the cause, nil for none.
func (e *Error) Unwrap() error { return e.cause }

// ErrorCode returns Code.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorMessage returns Message.
func (e *Error) ErrorMessage() string { return e.Message }

// ErrorFault says that the caller is at fault, never the service.
func (e *Error) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

func invalidIdentity(base identity.Base) *Error {
	return &Error{Code: CodeInvalidIdentity, Message: fmt.Sprintf(
		"the identity's base is %q; it must be %q or %q", base, identity.WebIdentity, identity.Session)}
}

func invalidARN(what, arn string) *Error {
	return &Error{Code: CodeInvalidIdentity, Message: fmt.Sprintf(
		"%s is %q, which is no ARN of an IAM role; it must look like arn:aws:iam::123456789012:role/name", what, arn)}
}

func regionMissing() *Error {
	return &Error{Code: CodeRegionMissing, Message: "neither the request nor AWS_REGION nor AWS_DEFAULT_REGION " +
		"names a region; set AWS_REGION"}
}
