// Package clock is the local AWS's own time: it runs with the clock that it was
// made with, and can be moved by tests and demonstrations.
package clock

import (
	"sync"
	"time"
)

// Clock is safe for concurrent use.
type Clock struct {
	base func() time.Time

	mu     sync.Mutex
	offset time.Duration
	tokens time.Duration
}

// New returns a clock that shows what base shows until it is moved.
func New(base func() time.Time) *Clock { return &Clock{base: base} }

// Now is the time by which signatures and credentials are judged.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base().Add(c.offset).UTC()
}

// Tokens is the time by which web identity tokens are judged.
func (c *Clock) Tokens() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base().Add(c.offset + c.tokens).UTC()
}

// Advance moves the clock on, or back for a negative duration.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// Set makes the clock show t now; it runs on from there.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = t.Sub(c.base())
}

// SetTokenOffset makes Tokens differ from Now by d.
func (c *Clock) SetTokenOffset(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens = d
}

// TokenOffset is what SetTokenOffset set.
func (c *Clock) TokenOffset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens
}

// Reset goes back to the base clock.
func (c *Clock) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset, c.tokens = 0, 0
}
