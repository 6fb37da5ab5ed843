package olm

import "context"

// memory is what a client of Once has read, by what it is.
type memory map[string]any

// Once is a client for looks at many installs in a row. It reads each list of a namespace, and the
// CredentialsRequests of the cluster, once. It is not safe for concurrent use.
func (c Client) Once() Client {
	c.seen = memory{}
	return c
}

// answer is what came of a read.
type answer[T any] struct {
	value T
	err   error
}

// remembered reads something, or has read it. What was cut off by the end of the context is read anew.
func remembered[T any](ctx context.Context, c Client, what string, read func() (T, error)) (T, error) {
	if was, has := c.seen[what].(answer[T]); has {
		return was.value, was.err
	}
	value, err := read()
	if c.seen != nil && ctx.Err() == nil {
		c.seen[what] = answer[T]{value, err}
	}
	return value, err
}
