package fault

import (
	"context"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// Trouble is what happens to one call.
type Trouble struct {
	// Latency passes first; Wait takes it.
	Latency time.Duration
	// Failure is the answer; nil: that of the service.
	Failure *call.Fault
	// RetryAfter is the failure's header of that name, in seconds; 0: none.
	RetryAfter int

	ended <-chan struct{}
}

// Wait returns when the latency has passed, when the context ends, because nobody
// waits for the answer any more, or when the book ends its waits. A call that was
// held up goes on then, as one that was merely slow does.
func (t Trouble) Wait(ctx context.Context) {
	if t.Latency <= 0 {
		return
	}
	timer := time.NewTimer(t.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-t.ended:
	}
}
