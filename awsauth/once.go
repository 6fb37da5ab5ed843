package awsauth

import (
	"context"
	"errors"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

// retryStep is the SDK's step that repeats a call.
const retryStep = "Retry"

// heldBack is an error that no rule of repetition sees into.
type heldBack struct{ err error }

func (heldBack) Error() string { return "no credentials" }

// triedWithin keeps a call from being repeated because its credentials could not be
// fetched: that was a call which was repeated itself, and each role of a chain would
// multiply the attempts. A rule of the retryer does not do: the clients of STS put
// one of their own outside it. So such an error is hidden from the step that repeats.
func triedWithin(stack *middleware.Stack) error {
	if _, repeats := stack.Finalize.Get(retryStep); !repeats {
		return nil
	}
	hide := middleware.FinalizeMiddlewareFunc("TabardHoldBack",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			var exchange *smithy.OperationError
			var caller *fault.Caller
			if errors.As(err, &exchange) || errors.As(err, &caller) {
				err = heldBack{err}
			}
			return out, metadata, err
		})
	show := middleware.FinalizeMiddlewareFunc("TabardTellHeldBack",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			var held heldBack
			if errors.As(err, &held) {
				err = held.err
			}
			return out, metadata, err
		})
	if err := stack.Finalize.Insert(hide, retryStep, middleware.After); err != nil {
		return err
	}
	return stack.Finalize.Insert(show, retryStep, middleware.Before)
}
