// Package fault is what went wrong in a cloud call, as plain data: a class that
// decides what happens next, and a message that is the same at every attempt.
// The shells make faults from errors, the cores decide on them.
package fault

import "time"

// Class says what answer a fault asks for.
type Class string

const (
	// Retry is a fault that may pass by itself: the network, a server error.
	Retry Class = "Retry"
	// Throttled asks for less, later.
	Throttled Class = "Throttled"
	// Denied means that the caller is known and may not.
	Denied Class = "Denied"
	// Unauthenticated means that the caller could not become anybody.
	Unauthenticated Class = "Unauthenticated"
	// Invalid means that the request can never succeed as it is.
	Invalid Class = "Invalid"
	// Gone means that the thing does not exist.
	Gone Class = "Gone"
	// Exists means that the thing is there already and is not ours.
	Exists Class = "Exists"
	// Changed means that somebody else wrote in between.
	Changed Class = "Changed"
)

// Fault is one failed call. It is an error, comparable, and safe to show: it
// holds no request ID, no point in time and no secret.
type Fault struct {
	Class Class
	// Service and Operation name the call, e.g. "S3" and "PutBucketPolicy".
	Service, Operation string
	// Code is the service's own error code.
	Code string
	// Message is the service's own text without request IDs, in one line.
	Message string
	// Hint says what a person can do, without names of anything; empty if there
	// is nothing to say.
	Hint string
	// RetryAfter is how long the service asked to be left alone, 0 if it did not.
	// It may differ from attempt to attempt, so no text has it.
	RetryAfter time.Duration
}

// Error is "S3 PutBucketPolicy: AccessDenied: text".
func (f Fault) Error() string {
	text := f.Service + " " + f.Operation
	for _, part := range []string{f.Code, f.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// Passing says that the machine may recover without a person.
func (f Fault) Passing() bool {
	return f.Class == Retry || f.Class == Throttled || f.Class == Changed
}
