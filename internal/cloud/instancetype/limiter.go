package instancetype

import (
	"context"
	"sync"
	"time"
)

// limiter spaces requests, so that a start with many new types does not use up
// the account's own allowance of requests. It runs by the real clock: it is
// about AWS's. It is safe for concurrent use.
type limiter struct {
	interval time.Duration
	burst    int
	now      func() time.Time

	mu sync.Mutex
	// next is when a request would go if there were no burst.
	next time.Time
}

func newLimiter(rate float64, burst int) *limiter {
	return &limiter{interval: time.Duration(float64(time.Second) / rate), burst: burst, now: time.Now}
}

// reserve takes the next place and says how long to wait for it.
func (l *limiter) reserve() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	saved := time.Duration(l.burst) * l.interval
	if earliest := now.Add(-saved); l.next.Before(earliest) {
		l.next = earliest
	}
	l.next = l.next.Add(l.interval)
	return max(l.next.Sub(now), 0)
}

// wait returns when the next request may go. Who gives up has used its place.
func (l *limiter) wait(ctx context.Context) error {
	d := l.reserve()
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
