package follow

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// Loop lists and watches until its context ends:
//
//	list ──► watch ──► watch from the version reached ──► …
//	  ▲        │ the version is lost, or a list was asked for
//	  └────────┘
//
// Its fields are not changed once it runs. It runs once.
type Loop struct {
	// List reads all that there is and returns its version. If there is none, nothing
	// can be watched, and all is listed again after a pause.
	List func(ctx context.Context) (version string, err error)
	// Watch reads what changes after a version, until that ends, and returns the version
	// reached, with an error too. An error that wraps ErrLost makes all be listed anew.
	Watch func(ctx context.Context, version string) (reached string, err error)
	// Failed is told of errors; nil is nobody. ErrLost is none.
	Failed func(error)
	// Pause is how long to wait after so many failures in a row, 0 after a list without a
	// version; up to half of it is added. Nil is Doubling(800 ms, 30 s).
	Pause func(failures int, err error) time.Duration

	mu      sync.Mutex
	machine machine
	// interrupt ends the watch that is under way; nil is none.
	interrupt context.CancelFunc
}

// Doubling is a pause that is doubled by each failure.
func Doubling(first, longest time.Duration) func(int, error) time.Duration {
	return func(failures int, _ error) time.Duration {
		return min(first<<min(max(failures-1, 0), 16), longest)
	}
}

// Run follows until the context ends. It tries again whatever fails.
func (l *Loop) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if pause := l.step(ctx); pause > 0 {
			wait(ctx, pause+rand.N(pause/2+1)) //nolint:gosec // it only spreads the replicas
		}
	}
}

// Relist makes all be listed again, by a list that begins after this call. It waits for
// nothing and may be called from anywhere, also from List and Watch.
func (l *Loop) Relist() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.machine.wishes++
	if l.interrupt != nil {
		l.interrupt()
	}
}

// step lists or watches once. A list is not interrupted: however often another is asked
// for, each comes to its end.
func (l *Loop) step(ctx context.Context) (pause time.Duration) {
	within, end := context.WithCancel(ctx)
	defer end()
	l.mu.Lock()
	lists, from := l.machine.next()
	if !lists {
		l.interrupt = end
	}
	l.mu.Unlock()
	var reached string
	var err error
	began := time.Now()
	if lists {
		reached, err = l.List(within)
	} else {
		reached, err = l.Watch(within, from)
	}
	interrupted := within.Err() != nil
	pauses, failures := l.ended(lists, reached, err, time.Since(began))
	if err != nil && !interrupted && !errors.Is(err, ErrLost) && l.Failed != nil {
		l.Failed(err)
	}
	switch {
	case !pauses:
		return 0
	case l.Pause != nil:
		return l.Pause(failures, err)
	}
	return Doubling(800*time.Millisecond, 30*time.Second)(failures, err)
}

// ended takes the end of a list or of a watch.
func (l *Loop) ended(lists bool, reached string, err error, lasted time.Duration) (pauses bool, failures int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interrupt = nil
	if lists {
		pauses = l.machine.listed(reached, err)
	} else {
		pauses = l.machine.watched(reached, err, lasted)
	}
	return pauses, l.machine.failures
}

func wait(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
