package console

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
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
	// rests is how many times as long as the last look took a value is good at least, and twice as long it
	// is shown while another one is read: with ten, at most a tenth of the time is spent on looks. Zero for no
	// such bound.
	rests int
	// within is how long a look may take.
	within time.Duration
	// log is told of a panic in a look; nil is the program's own.
	log *slog.Logger

	mu      sync.Mutex
	last    T
	at      time.Time // zero for none
	took    time.Duration
	reading chan struct{} // closed at its end; nil where nothing is read
	// err is why the last look brought no value, and failed and failing are when that look ended and how long
	// it took.
	err     error
	failed  time.Time
	failing time.Duration
}

// longestRest bounds how long nothing is looked at after a look that failed: a person who has mended it asks
// again.
const longestRest = 30 * time.Second

// get is the value, and when it was read. Who waits for it no longer does not end the look: others may
// wait for the same.
func (k *kept[T]) get(ctx context.Context) (T, time.Time, error) {
	k.mu.Lock()
	last, at, err, now := k.last, k.at, k.err, k.now()
	age, rest := now.Sub(at), time.Duration(k.rests)*k.took
	fresh, shown := max(k.freshFor, rest), max(k.freshFor, k.shownFor, 2*rest)
	if k.reading == nil && (at.IsZero() || age > fresh) && !k.resting(now) {
		k.reading = make(chan struct{})
		go k.again(context.WithoutCancel(ctx), k.reading)
	}
	reading := k.reading
	k.mu.Unlock()
	if !at.IsZero() && age <= shown {
		return last, at, nil
	}
	if reading == nil {
		return last, at, err
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

// resting says that the last look failed so recently that there is not to be another one: after one that took
// long the cluster is left alone for longer.
func (k *kept[T]) resting(now time.Time) bool {
	if k.err == nil || errors.Is(k.err, context.Canceled) {
		return false
	}
	return now.Sub(k.failed) < min(time.Duration(max(k.rests, 1))*k.failing, longestRest)
}

func (k *kept[T]) again(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, k.within)
	defer cancel()
	from := k.now()
	read, err := k.look(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	defer close(done)
	k.reading, k.err = nil, err
	if err != nil {
		k.failed = k.now()
		k.failing = k.failed.Sub(from)
		return
	}
	k.last, k.at = read, k.now()
	k.took = k.at.Sub(from)
}

// look reads once. A panic is an error: nobody else would recover it, and the program would end.
func (k *kept[T]) look(ctx context.Context) (out T, err error) {
	defer recovered(cmp.Or(k.log, slog.Default()), &err)
	return k.read(ctx)
}
