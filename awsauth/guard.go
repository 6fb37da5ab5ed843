package awsauth

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

// Guarded is a configuration like another whose calls are made only while mayCall says
// nil. It is asked before the credentials of a call are fetched and again just before
// each attempt is signed, so that no repetition by the SDK goes out after a no. A call
// that is stopped fails with an *Error of fault.CodeRoleWithdrawn, and is not repeated.
// A call that is on its way is not stopped. mayCall is asked from many goroutines, and
// often: it should answer from memory.
func Guarded(config aws.Config, mayCall func() error) aws.Config {
	config = config.Copy()
	config.APIOptions = append(slices.Clone(config.APIOptions), func(stack *middleware.Stack) error {
		if err := stack.Finalize.Insert(asking("TabardMayCall", mayCall), "Signing", middleware.Before); err != nil {
			return err
		}
		return stack.Finalize.Add(asking("TabardMayBegin", mayCall), middleware.Before)
	})
	return config
}

// asking is a step of a call that ends it unless it may be made.
func asking(id string, mayCall func() error) middleware.FinalizeMiddleware {
	return middleware.FinalizeMiddlewareFunc(id,
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			if err := mayCall(); err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, &Error{
					Code: fault.CodeRoleWithdrawn, Message: "the call was not made: " + err.Error(), cause: err,
				}
			}
			return next.HandleFinalize(ctx, in)
		})
}
