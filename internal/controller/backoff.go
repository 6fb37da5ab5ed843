package controller

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// shortest and longest are the first and the last time after which a pass that has failed
// is made again.
const shortest, longest = time.Second, time.Minute

// Backoff says when a pass that has failed is made again: after a second, then after
// twice as long each time, not before the time that the decision chose, and never after
// more than a minute. It is the rate limiter of every controller's queue: by its own one
// controller-runtime waits up to 1,000 seconds. It is safe for concurrent use.
type Backoff[R comparable] struct {
	// Longest is the longest time between two tries; 0 is a minute.
	Longest time.Duration

	mu       sync.Mutex
	failures map[R]failure
}

var _ workqueue.TypedRateLimiter[reconcile.Request] = (*Backoff[reconcile.Request])(nil)

// failure is what is known of a key whose last pass has failed.
type failure struct {
	tries int
	// floor is the time that the decision chose.
	floor time.Duration
}

// When is the time to the next try. The queue asks once for each failed pass.
func (b *Backoff[R]) When(key R) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.failures[key]
	most := longest
	if b.Longest > 0 {
		most = b.Longest
	}
	wait := most
	if f.tries < 6 { // after 32 seconds comes the longest time
		wait = shortest << f.tries
	}
	f.tries++
	b.keep(key, f)
	return min(max(wait, f.floor), most)
}

// Forget forgets nothing: controller-runtime calls it for every pass that ends with a
// time, also for one that only waits. See Paced.
func (b *Backoff[R]) Forget(R) {}

// NumRequeues is how many passes have failed since the last good one.
func (b *Backoff[R]) NumRequeues(key R) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failures[key].tries
}

// failed takes over the time that the decision chose for a failure.
func (b *Backoff[R]) failed(key R, floor time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keep(key, failure{b.failures[key].tries, floor})
}

// ended forgets the failures of a key: a pass has ended well.
func (b *Backoff[R]) ended(key R) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.failures, key)
}

// keep notes a failure; the caller holds the lock.
func (b *Backoff[R]) keep(key R, f failure) {
	if b.failures == nil {
		b.failures = map[R]failure{}
	}
	b.failures[key] = f
}

// Wait is the end of a pass that has looked at nothing yet, because it must wait: for a
// cache that is behind, or for the time between two looks. It is made again after the
// time. It is no failure, and it does not make failures forgotten.
func Wait(again time.Duration) error { return waiting{again} }

type waiting struct{ again time.Duration }

func (w waiting) Error() string { return fmt.Sprintf("the pass waits for %s", w.again) }

// waits is how long an error of Wait says to wait.
func waits(err error) (again time.Duration, is bool) {
	w, is := errors.AsType[waiting](err)
	return w.again, is
}

// Run has a builder's controller make paced passes. It is the one way to end a builder:
// Complete alone would leave out the rate limiter.
func Run(build *ctrl.Builder, passes *Paced[reconcile.Request]) error {
	return build.WithOptions(ctrlcontroller.Options{RateLimiter: passes}).Complete(passes)
}
