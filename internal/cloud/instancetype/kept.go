package instancetype

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

const (
	// fetchLimit ends a fetch that hangs, whoever began it.
	fetchLimit = 3 * time.Minute
	// Failed fetches are repeated after retryFirst, doubling up to retryLast, and
	// not before AWS wants it, if that is within retryLast.
	retryFirst = time.Second
	retryLast  = 5 * time.Minute
	// maxFailures bounds the identities whose failures are remembered.
	maxFailures = 64
)

// kept is one value that costs calls. One fetch of it runs at a time; who comes
// meanwhile waits for that one, or gets the old value while it is good enough.
// The zero value is ready. It is safe for concurrent use.
type kept[T any] struct {
	mu     sync.Mutex
	value  T
	there  bool
	at     time.Time
	flight *flight[T]
	// failures are those since the last success, by identity; under the zero
	// identity those that are everybody's.
	failures map[identity.Identity]failure
}

// flight is one fetch. Its value and error are read after done is closed.
type flight[T any] struct {
	who   identity.Identity
	done  chan struct{}
	value T
	err   error
}

// failure is a fetch that failed, and until when it is not repeated.
type failure struct {
	err   error
	count int
	until time.Time
}

// life is how long a value is served without renewal, and how long at all.
type life struct{ soft, hard time.Duration }

// source is where a value comes from.
type source[T any] struct {
	now func() time.Time
	// life may depend on the value.
	life  func(T) life
	fetch func(context.Context) (T, error)
}

// get returns the value, fetched as who if need be. An error may be that of a
// fetch a moment ago: it is not repeated at once.
func (k *kept[T]) get(ctx context.Context, who identity.Identity, from source[T]) (T, error) {
	for {
		value, running, err := k.look(ctx, who, from)
		if running == nil {
			return value, err
		}
		select {
		case <-running.done:
		case <-ctx.Done():
			return value, cloud.Error(service, describeTypes, ctx.Err())
		}
		if running.err == nil || running.who == who || !isPersonal(running.err) {
			return running.value, running.err
		}
		// Somebody else was refused, which says nothing of this identity.
	}
}

// look returns the value or why there is none, or else the fetch to wait for. It
// begins one if the value is missing or old.
func (k *kept[T]) look(ctx context.Context, who identity.Identity, from source[T]) (T, *flight[T], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := from.now()
	var allowed life
	if k.there {
		allowed = from.life(k.value)
	}
	age := now.Sub(k.at)
	if k.there && age < allowed.soft {
		return k.value, nil, nil
	}
	failed := k.failure(who, now)
	if k.flight == nil && failed == nil {
		k.begin(ctx, who, from)
	}
	switch {
	case k.there && age < allowed.hard:
		return k.value, nil, nil
	case k.flight != nil:
		var none T
		return none, k.flight, nil
	}
	var none T
	return none, nil, failed
}

// begin fetches in the background; the caller holds the lock. The fetch outlives
// its beginner, on whose context others would die too.
func (k *kept[T]) begin(ctx context.Context, who identity.Identity, from source[T]) {
	run := &flight[T]{who: who, done: make(chan struct{})}
	k.flight = run
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
	go func() {
		defer cancel()
		run.value, run.err = from.fetch(detached)
		k.end(run, from.now())
		close(run.done)
	}()
}

func (k *kept[T]) end(run *flight[T], now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flight = nil
	if run.err == nil {
		k.value, k.there, k.at, k.failures = run.value, true, now, nil
		return
	}
	who := identity.Identity{}
	if isPersonal(run.err) {
		who = run.who
	}
	if k.failures == nil || len(k.failures) >= maxFailures {
		k.failures = map[identity.Identity]failure{}
	}
	count := k.failures[who].count
	wait := min(max(retryFirst<<min(count, 10), wanted(run.err)), retryLast)
	k.failures[who] = failure{err: run.err, count: count + 1, until: now.Add(wait)}
}

// failure is why an identity should not try now, nil if it may; the caller holds
// the lock.
func (k *kept[T]) failure(who identity.Identity, now time.Time) error {
	for _, one := range []identity.Identity{{}, who} {
		if failed, there := k.failures[one]; there && now.Before(failed.until) {
			return failed.err
		}
	}
	return nil
}

// age is how old the value is; false if there is none.
func (k *kept[T]) age(now time.Time) (time.Duration, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return now.Sub(k.at), k.there
}

// wanted is how long AWS asked to be left alone, 0 if it did not.
func wanted(err error) time.Duration {
	var known fault.Fault
	errors.As(err, &known) // else it is zero
	return known.RetryAfter
}

// isPersonal says that an error is about who asked. STS is on the way of each
// identity for itself.
func isPersonal(err error) bool {
	var known fault.Fault
	if errors.As(err, &known) && known.Service == "STS" {
		return true
	}
	for _, class := range []fault.Class{fault.Denied, fault.Unauthenticated, fault.Invalid} {
		if cloud.Is(err, class) {
			return true
		}
	}
	return false
}
