// Package outage has AWS throttle for an hour of virtual time, while controller-runtime
// runs a controller, and judges when the controller tries.
package outage

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/internal/core/fault"
)

const (
	length = time.Hour
	// longest is the longest time between two tries, and most how many there may be.
	longest = time.Minute
	most    = 130
)

// AWS throttles from its beginning for an hour.
type AWS struct {
	began time.Time
	tries []time.Duration
}

// Call is a call of AWS. Those of one instant are one try.
func (a *AWS) Call() error {
	at := time.Since(a.began)
	if len(a.tries) == 0 || a.tries[len(a.tries)-1] != at {
		a.tries = append(a.tries, at)
	}
	if at < length {
		return fault.Fault{Class: fault.Throttled, Service: "AWS", Operation: "Call", Code: "Throttling"}
	}
	return nil
}

// Paced are passes with their rate limiter.
type Paced[R comparable] interface {
	reconcile.TypedReconciler[R]
	workqueue.TypedRateLimiter[R]
}

// Check has a controller try during an hour of throttling and after it, and fails the
// test if it does so at wrong times.
func Check[R comparable](t *testing.T, begin func(*AWS) Paced[R]) {
	t.Helper()
	if problem := wrong(run(t, func(aws *AWS) ctrlcontroller.TypedOptions[R] {
		passes := begin(aws)
		return ctrlcontroller.TypedOptions[R]{Reconciler: passes, RateLimiter: passes}
	})); problem != "" {
		t.Error(problem)
	}
}

// run is when a controller tries, in virtual time: until the hour is over, and as long
// after it as the first try may take.
func run[R comparable](t *testing.T, begin func(*AWS) ctrlcontroller.TypedOptions[R]) (tries []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		aws := &AWS{began: time.Now()}
		options := begin(aws)
		options.Logger, options.SkipNameValidation = logr.Discard(), new(true)
		loop, err := ctrlcontroller.NewTypedUnmanaged("outage", options)
		if err != nil {
			t.Fatal(err)
		}
		err = loop.Watch(source.TypedFunc[R](func(_ context.Context, queue workqueue.TypedRateLimitingInterface[R]) error {
			var key R
			queue.Add(key)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- loop.Start(ctx) }()
		<-time.After(length + longest + time.Second)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		tries = aws.tries
	})
	return tries
}

// wrong says what is wrong with the times of tries; empty is nothing.
func wrong(tries []time.Duration) string {
	var last, pause time.Duration
	for i, at := range tries {
		switch next := at - last; {
		case i > 0 && next > longest:
			return fmt.Sprintf("nothing is tried from %s to %s", last, at)
		case i >= most:
			return fmt.Sprintf("there are %d tries until %s", i+1, at)
		case at >= length:
			return "" // AWS answers again
		case next < pause:
			return fmt.Sprintf("the try at %s comes %s after the one before, which came after %s", at, next, pause)
		default:
			last, pause = at, next
		}
	}
	return fmt.Sprintf("nothing is tried after %s", last)
}
