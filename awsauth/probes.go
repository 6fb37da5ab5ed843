package awsauth

import (
	"sync"
	"time"
)

const (
	// probeAfter is how long a role that may not be assumed is not asked for again.
	// Then one of those that want it asks, and the others go on to hear the refusal.
	probeAfter = 30 * time.Second
	// probeApart is how far apart two such questions of one process are, whatever
	// the number of its refused roles: STS hears ten of them a second at the most.
	// With more than 300 refused roles each is asked for less often.
	probeApart = 100 * time.Millisecond
)

// probes says when roles that were refused are asked for again. The zero value is
// ready. It is safe for concurrent use.
type probes struct {
	mu   sync.Mutex
	last time.Time // the latest time that it has given out
}

// after is when a role that was refused now is asked for again.
func (p *probes) after(now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := now.Add(probeAfter)
	if next := p.last.Add(probeApart); due.Before(next) {
		due = next
	}
	p.last = due
	return due
}
