package webhook

import (
	"context"
	"fmt"
	"time"
)

// latest lets all who want to know what is said in this moment share few looks.
type latest struct {
	// look looks now. It is called by one goroutine at a time.
	look func(ctx context.Context) error

	turn chan struct{}
	// began is when the last look began that did not fail.
	began time.Time
}

func newLatest(look func(context.Context) error) *latest {
	return &latest{look: look, turn: make(chan struct{}, 1)}
}

// now looks, unless another look has begun after the call, and did not fail.
func (l *latest) now(ctx context.Context) error {
	asked := time.Now()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return fmt.Errorf("another look is not done: %w", ctx.Err())
	}
	if l.began.After(asked) {
		return nil
	}
	began := time.Now()
	if err := l.look(ctx); err != nil {
		return err
	}
	l.began = began
	return nil
}
