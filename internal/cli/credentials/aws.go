package credentials

import "context"

// AWS is a person's own session.
type AWS interface {
	// Caller is who it is.
	Caller(ctx context.Context, region string) (account, arn string, err error)
}
