package console

import (
	"context"
	"sync"
	"time"
)

// kept is something that was read, for all sessions: they are one person's. Its methods may be called by
// several goroutines, who share the value: it must not be changed.
type kept[T any] struct {
	read func(context.Context) (T, error)
	now  func() time.Time
	// freshFor is how long a value is good without another look, and shownFor how long while another one
	// is read.
	freshFor, shownFor time.Duration
	// within is how long a look may take.
	within time.Duration

	mu      sync.Mutex
	last    T
	at      time.Time // zero for none
	err     error
	reading chan struct{} // closed at its end; nil where nothing is read
}

// get is the value, and when it was read. Who waits for it no longer does not end the look: others may
// wait for the same.
func (k *kept[T]) get(ctx context.Context) (T, time.Time, error) {
	k.mu.Lock()
	last, at, reading := k.last, k.at, k.reading
	age := k.now().Sub(at)
	if reading == nil && (at.IsZero() || age > k.freshFor) {
		reading = make(chan struct{})
		k.reading = reading
		go k.again(context.WithoutCancel(ctx), reading)
	}
	k.mu.Unlock()
	if !at.IsZero() && age <= max(k.freshFor, k.shownFor) {
		return last, at, nil
	}
	select {
	case <-ctx.Done():
		return last, at, ctx.Err()
	case <-reading:
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last, k.at, k.err
}

func (k *kept[T]) again(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, k.within)
	defer cancel()
	read, err := k.read(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	defer close(done)
	k.reading, k.err = nil, err
	if err == nil {
		k.last, k.at = read, k.now()
	}
}
