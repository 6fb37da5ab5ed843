// Package cloud turns the errors of AWS calls into faults: plain data that a
// decision can be made on. The adapters, one folder a noun, are below it.
//
// An error is classed by its code, its HTTP status and its type, never by its
// text: texts change, and are there to be read by people.
package cloud

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Classify makes a fault of an error; nil stays nil. If the call failed because
// its caller could not become anybody, then the fault names the STS operation
// that failed, not the one that was meant. The result is the same at every
// attempt that fails in the same way.
func Classify(service, operation string, err error) *fault.Fault {
	if err == nil {
		return nil
	}
	var known fault.Fault
	if errors.As(err, &known) {
		return &known
	}
	meant := operation
	service, operation = innermost(service, operation, err)
	out := &fault.Fault{Service: service, Operation: operation}
	var api smithy.APIError
	if errors.As(err, &api) {
		out.Code = api.ErrorCode()
		out.Class = classOf(out.Code, operation, statusOf(err), api.ErrorFault())
		out.Message = clean(api.ErrorMessage())
		if out.Class == fault.Gone && operation != meant {
			// That the way to credentials is not there says nothing of the thing
			// that was asked for.
			out.Class = fault.Invalid
		}
		return out
	}
	out.Class, out.Message = transport(err)
	return out
}

// Error is Classify for a function that returns an error: a fault.Fault value,
// or nil.
func Error(service, operation string, err error) error {
	if known := Classify(service, operation, err); known != nil {
		return *known
	}
	return nil
}

// Is says whether an error is a fault of that class.
func Is(err error, class fault.Class) bool {
	var known fault.Fault
	return errors.As(err, &known) && known.Class == class
}

// innermost is the call that really failed: credentials are fetched within the
// call that needs them.
func innermost(service, operation string, err error) (string, string) {
	var outer *smithy.OperationError
	if !errors.As(err, &outer) {
		return service, operation
	}
	var inner *smithy.OperationError
	for errors.As(outer.Err, &inner) {
		outer = inner
		service, operation = inner.ServiceID, inner.OperationName
	}
	return service, operation
}

// codeUnknown is what the SDK calls an answer that is no error of the service,
// like a proxy's page.
const codeUnknown = "UnknownError"

// classOf decides by code, then by status.
func classOf(code, operation string, status int, blame smithy.ErrorFault) fault.Class {
	class, ok := classes[code]
	switch {
	case ok && class == fault.Denied && operation == "AssumeRoleWithWebIdentity":
		// Whoever shows a token is nobody yet: the trust does not let it in.
		return fault.Unauthenticated
	case ok:
		return class
	case strings.HasPrefix(code, "NoSuch"):
		return fault.Gone
	}
	switch {
	case status == http.StatusTooManyRequests:
		return fault.Throttled
	case status == http.StatusNotFound && code != codeUnknown:
		return fault.Gone
	case status == http.StatusForbidden:
		return fault.Denied
	case status == http.StatusPreconditionFailed:
		return fault.Changed
	case status >= http.StatusInternalServerError, status == 0 && blame != smithy.FaultClient:
		return fault.Retry
	}
	return fault.Invalid
}

// statusOf is the HTTP status that an error came with, 0 for none.
func statusOf(err error) int {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}
