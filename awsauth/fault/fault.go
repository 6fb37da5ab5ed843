// Package fault says what an error of an AWS call means: a class that decides
// what to do next, a first line that is safe for everybody's eyes, and a hint
// for the person who has to help. An error is classed by its code, its HTTP
// status and its type, never by its text: texts change.
//
// What a controller does with a class:
//
//	InvalidConfig           an event; nothing until an input changes
//	CredentialsRejected     an event with the hint; again every five minutes and when an input changes
//	CredentialsUnavailable  back off from 5 s to 5 min
//	Unauthorized            an event that names the action; again every ten minutes
//	Throttled               back off with jitter; what is cached is good enough
//	Transient               back off
//	Certificate             an event with the hint; again every five minutes
//	ClockSkew               an event; again every five minutes
//	Request                 the caller's own decision, by Code
//	Canceled                nothing
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/smithy-go"
)

// Class says what answer a fault asks for.
type Class string

const (
	// InvalidConfig is an environment, object or Secret that can never work.
	InvalidConfig Class = "InvalidConfig"
	// CredentialsRejected means that AWS does not accept who we say we are.
	CredentialsRejected Class = "CredentialsRejected"
	// CredentialsUnavailable means that there are no credentials yet, or no more.
	CredentialsUnavailable Class = "CredentialsUnavailable"
	// Unauthorized means that AWS knows us and does not allow the action.
	Unauthorized Class = "Unauthorized"
	// Throttled asks for less, later.
	Throttled Class = "Throttled"
	// Transient may pass by itself: the network, a server error.
	Transient Class = "Transient"
	// Certificate means that the endpoint's certificate is not trusted.
	Certificate Class = "Certificate"
	// ClockSkew means that our clock and AWS's differ too much.
	ClockSkew Class = "ClockSkew"
	// Request means that AWS refused the request itself: the thing is not there,
	// or a parameter is wrong.
	Request Class = "Request"
	// Canceled means that whoever asked gave up.
	Canceled Class = "Canceled"
)

// Fault is one failed call. It holds no request ID, no time and no secret, so
// the same failure reads the same at every attempt.
type Fault struct {
	Class Class
	// Service and Operation name the call that really failed, e.g. "STS" and
	// "AssumeRoleWithWebIdentity"; empty if none was made.
	Service, Operation string
	// Code is the service's error code, or awsauth's own.
	Code string
	// Method and Subject say who called, or tried to become somebody: e.g.
	// "irsa" and the role's ARN, or "secret" and NAMESPACE/NAME. Empty if the
	// call was not made through awsauth.
	Method, Subject string
	// Message is the service's own text, cleaned. It may hold ARNs.
	Message string
	// Hint says what to do, empty if there is nothing to say.
	Hint string
	// RetryAfter is how long the service asked to wait, 0 if it did not.
	RetryAfter time.Duration
	cause      error
}

// Of is what an error means; nil for nil. Service and operation name the call
// that was meant; empty takes the SDK's own names. The call that failed is named
// instead if it was the way to the credentials.
func Of(service, operation string, err error) *Fault {
	if err == nil {
		return nil
	}
	var known *Fault
	if errors.As(err, &known) {
		return known
	}
	f := &Fault{cause: err}
	f.Service, f.Operation = innermost(service, operation, err)
	var caller *Caller
	if errors.As(err, &caller) {
		f.Method, f.Subject = caller.Method, caller.Subject
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		f.Code, f.Message = api.ErrorCode(), Clean(api.ErrorMessage())
		f.Class = classOf(f.Code, f.Service, f.Operation, err, api.ErrorFault())
	} else {
		f.Class, f.Message = transport(err)
	}
	f.RetryAfter = retryAfter(err)
	f.Hint = hintOf(f)
	return f
}

// Is says whether an error is a fault of that class.
func Is(err error, class Class) bool {
	var known *Fault
	return errors.As(err, &known) && known.Class == class
}

// FirstLine says what happened without AWS's own text, which may name things
// that the readers of an object's events need not know.
func (f *Fault) FirstLine() string {
	if _, ours := own[f.Code]; ours {
		return f.Message
	}
	parts := []string{}
	if call := strings.TrimSpace(f.Service + " " + f.Operation); call != "" {
		parts = append(parts, call)
	}
	if f.Code == "" {
		parts = append(parts, f.Message) // no service wrote it
	} else {
		parts = append(parts, f.Code)
	}
	if f.Hint != "" {
		parts = append(parts, f.Hint)
	}
	line := strings.Join(parts, ": ")
	if f.Method != "" {
		line += fmt.Sprintf(" (authMethod=%s, %s)", f.Method, f.Subject)
	}
	return line
}

// Error is FirstLine, and on a second line the service's own text if the first
// does not have it.
func (f *Fault) Error() string {
	line := f.FirstLine()
	if f.Message == "" || strings.Contains(line, f.Message) {
		return line
	}
	return line + "\n" + f.Message
}

// Unwrap returns the error that the fault was made of.
func (f *Fault) Unwrap() error { return f.cause }

// Passing says that the machine may recover without a person.
func (f *Fault) Passing() bool {
	switch f.Class {
	case CredentialsUnavailable, Throttled, Transient:
		return true
	}
	return false
}

// Caller is an error with who called, or tried to become somebody. Every error of a call
// that is made through awsauth holds one, so that its plain text has no request ID
// either.
type Caller struct {
	// Method is how credentials are had, such as "irsa".
	Method string
	// Subject is the role's ARN or the Secret's NAMESPACE/NAME.
	Subject string
	Err     error
}

// Error is the text of the Fault that it is, in one line: it is the same at every
// attempt.
func (c *Caller) Error() string {
	if c.Err == nil {
		return "an error that is not known"
	}
	return strings.ReplaceAll(Of("", "", c).Error(), "\n", ": ")
}

// Unwrap returns the error itself.
func (c *Caller) Unwrap() error { return c.Err }

// innermost is the call that really failed: credentials are fetched within the
// call that needs them.
func innermost(service, operation string, err error) (string, string) {
	var outer *smithy.OperationError
	if !errors.As(err, &outer) {
		return service, operation
	}
	if service == "" && operation == "" {
		service, operation = outer.ServiceID, outer.OperationName
	}
	var inner *smithy.OperationError
	for errors.As(outer.Err, &inner) {
		outer = inner
		service, operation = inner.ServiceID, inner.OperationName
	}
	return service, operation
}
