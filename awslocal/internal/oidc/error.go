package oidc

import "fmt"

// Kind is a class of failure; STS has an error of its own for each.
type Kind int

// The kinds of failure, in the order of the checks.
const (
	// Malformed is a token that is no JWS with a JSON object in it.
	Malformed Kind = iota + 1
	// Incomplete is a token without a required claim; Detail is its name.
	Incomplete
	// Retrieval is documents that cannot be had or used.
	Retrieval
	// Untrusted is a server certificate that nobody vouches for.
	Untrusted
	// Unreachable is a network failure.
	Unreachable
	// UnknownKey is a key ID that the provider does not publish.
	UnknownKey
	// Invalid is an algorithm that is not accepted, or a wrong signature.
	Invalid
)

// Error is a failure. Detail is for the log: it never holds a token.
type Error struct {
	Kind   Kind
	Detail string
}

// Error is the detail.
func (e *Error) Error() string { return e.Detail }

func retrieval(format string, args ...any) *Error {
	return &Error{Kind: Retrieval, Detail: fmt.Sprintf(format, args...)}
}
