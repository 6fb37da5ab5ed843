// Package cloud is what adapters and controllers say to each other: the nouns of the
// cloud as plain data, and faults, which it makes of the errors of AWS calls so that a
// decision can be made on them. The adapters, one folder a noun, are below it.
//
// An error is classed by its code, its HTTP status and its type, never by its
// text: texts change, and are there to be read by people.
package cloud

import (
	"errors"
	"net/http"
	"strings"

	authfault "github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Classify makes a fault of an error; nil stays nil. If the call failed because
// its caller could not become anybody, then the fault names the STS operation
// that failed, not the one that was meant. The result is the same at every
// attempt that fails in the same way, but for RetryAfter.
func Classify(service, operation string, err error) *fault.Fault {
	if err == nil {
		return nil
	}
	var known fault.Fault
	if errors.As(err, &known) {
		return &known
	}
	found := authfault.Of(service, operation, err)
	out := &fault.Fault{
		Service: found.Service, Operation: found.Operation, Code: found.Code, Message: found.Message,
		Class: classOf(found, statusOf(err)), Hint: found.Hint, RetryAfter: found.RetryAfter,
	}
	if out.Class == fault.Gone && found.Operation != operation {
		// That the way to credentials is not there says nothing of the thing
		// that was asked for.
		out.Class = fault.Invalid
	}
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

// codeUnknown is what the SDK calls an answer that is no error of the service,
// like a proxy's page.
const codeUnknown = "UnknownError"

// classOf decides by code, then by status.
func classOf(found *authfault.Fault, status int) fault.Class {
	class, ok := codes[found.Code]
	switch {
	case ok && class == fault.Denied && found.Operation == "AssumeRoleWithWebIdentity":
		// Whoever shows a token is nobody yet: the trust does not let it in.
		return fault.Unauthenticated
	case ok:
		return class
	case strings.HasPrefix(found.Code, "NoSuch"):
		return fault.Gone
	case found.Class == authfault.Request && status == http.StatusNotFound && found.Code != codeUnknown:
		return fault.Gone
	case found.Class == authfault.Request && status == http.StatusPreconditionFailed:
		return fault.Changed
	}
	return classes[found.Class]
}

// statusOf is the HTTP status that an error came with, 0 for none.
func statusOf(err error) int {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}
