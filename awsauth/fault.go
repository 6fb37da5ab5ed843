package awsauth

import (
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Error is why no identity could be had before AWS was asked. It has the shape
// of the SDK's own errors (smithy.APIError), so that whoever classes errors by
// code, as fault.Of does, needs to know one shape. It never holds a secret, and
// its message is one line.
type Error struct {
	// Code is one of the package fault's.
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

func invalid(format string, args ...any) *Error {
	return &Error{Code: fault.CodeInvalidIdentity, Message: fmt.Sprintf(format, args...)}
}

func invalidARN(what, arn string) *Error {
	return invalid("%s is %q, which is no ARN of an IAM role; it must look like arn:aws:iam::123456789012:role/name", what, arn)
}

func regionMissing() *Error {
	return &Error{Code: fault.CodeRegionMissing, Message: "neither the request nor AWS_REGION nor AWS_DEFAULT_REGION " +
		"names a region; set AWS_REGION"}
}

func partitionMismatch(what, arn, region string) *Error {
	return &Error{Code: fault.CodePartitionMismatch, Message: fmt.Sprintf(
		"%s is %s, of the partition %s, and the region %s is of the partition %s; partitions share no roles: name a role of the region's partition",
		what, arn, identity.PartitionOfARN(arn), region, identity.Partition(region))}
}

// undecided is the *Error of an error of identity.Decide.
func undecided(err error) error {
	var known *identity.Error
	if errors.As(err, &known) {
		return &Error{Code: known.Code, Message: known.Message, cause: err}
	}
	return err
}
