package awsauth

import (
	"context"
	"errors"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

// caller is who calls, for errors, logs and metrics.
type caller struct{ method, subject string }

// usedKey is the context's key of a *string that gets the ID of the access key
// with which a call is signed.
type usedKey struct{}

// watching adds to each operation what a configuration does around calls:
// errors say who called, credentials that AWS finds out of date are replaced
// once, and each attempt is counted. kept is nil if the SDK has the credentials.
func (a *Auth) watching(kept renewable, who caller) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		// Before all others: the credentials are chosen once, and all attempts
		// are within that.
		around := middleware.FinalizeMiddlewareFunc("TabardRenewCredentials",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
				return renewing(ctx, in, next, kept, who)
			})
		if err := stack.Finalize.Add(around, middleware.Before); err != nil {
			return err
		}
		counted := middleware.DeserializeMiddlewareFunc("TabardCountAttempts",
			func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
				began := a.now()
				out, metadata, err := next.HandleDeserialize(ctx, in)
				a.observer.Called(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), codeOf(err), max(0, a.now().Sub(began)))
				return out, metadata, err
			})
		return stack.Deserialize.Add(counted, middleware.Before)
	}
}

// renewing makes a call, and makes it once more with new credentials if AWS
// refuses those that it was made with.
func renewing(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler, kept renewable, who caller) (middleware.FinalizeOutput, middleware.Metadata, error) {
	var again *smithyhttp.Request
	if request, ok := in.Request.(*smithyhttp.Request); ok && kept != nil {
		again = request.Clone() // resolving the endpoint changes the request
	}
	var used string
	out, metadata, err := next.HandleFinalize(context.WithValue(ctx, usedKey{}, &used), in)
	if again != nil && used != "" && isOutOfDate(err) && kept.drop(ctx, used) && again.RewindStream() == nil {
		in.Request = again
		out, metadata, err = next.HandleFinalize(context.WithValue(ctx, usedKey{}, &used), in)
	}
	var known *fault.Caller
	if err != nil && !errors.As(err, &known) {
		err = &fault.Caller{Method: who.method, Subject: who.subject, Err: err}
	}
	return out, metadata, err
}

func isOutOfDate(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && fault.IsOutOfDate(api.ErrorCode())
}
