package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Outcome is the end of a pass.
type Outcome struct {
	// Again is when to look next. With an error it is the earliest time, see Backoff.
	Again time.Duration
	// Err is what the machine may recover from by trying again. What a person
	// must mend is a condition, not an error.
	Err error
}

// Work is what a plan has to be done, and how.
type Work[S any] struct {
	// Steps are made in their order, up to the first that fails.
	Steps []S
	// Do makes a step true. It is idempotent: a step that was already made succeeds.
	Do func(ctx context.Context, step S) error
	// Tell takes the fault of a step over into the status to write, and returns when to
	// look next. It may be nil where no step calls a cloud.
	Tell func(step S, f fault.Fault) (again time.Duration)
	// Again is when to look next if all succeed.
	Again time.Duration
}

// Perform makes the steps. The class of a fault decides the outcome: one that may pass
// by itself is told and returned, with the time that the decision chose for it; one that
// asks for a person is told only. What is no cloud's fault is the API server's, or a bug, and is returned.
func Perform[S any](ctx context.Context, metrics *Metrics, work Work[S]) Outcome {
	for _, step := range work.Steps {
		err := work.Do(ctx, step)
		metrics.Made(step, err)
		if err == nil {
			continue
		}
		known, isFault := errors.AsType[fault.Fault](err)
		if !isFault {
			return Outcome{Err: err}
		}
		again := work.Tell(step, known)
		if known.Passing() {
			return Outcome{Again: again, Err: err}
		}
		return Outcome{Again: again}
	}
	return Outcome{Again: work.Again}
}

// FaultOf is the fault in an error of an adapter; nil stays nil. What is none may pass.
func FaultOf(err error) *fault.Fault {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[fault.Fault](err); ok {
		return &known
	}
	return &fault.Fault{Class: fault.Retry, Message: err.Error()}
}

// UnknownStep is the error of a step that the code does not know. That is a bug, which
// no repetition mends.
func UnknownStep(step any) error {
	return reconcile.TerminalError(fmt.Errorf("step %T is not known: this is a bug", step))
}
