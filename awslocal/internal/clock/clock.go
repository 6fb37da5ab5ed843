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

	mu      sync.Mutex
	offset  time.Duration
	offsets Offsets
}

// Offsets are how far ahead of the clock some things are judged.
type Offsets struct {
	// Tokens is for the expiry of web identity tokens.
	Tokens time.Duration
	// Credentials is for the expiry of sessions.
	Credentials time.Duration
	// Signatures is for the age of signatures and the expiry of presigned URLs.
	Signatures time.Duration
}

// New returns a clock that shows what base shows until it is moved.
func New(base func() time.Time) *Clock { return &Clock{base: base} }

// Now is the time by which everything is judged that has no offset.
func (c *Clock) Now() time.Time { return c.at(0) }

// Tokens is the time by which web identity tokens are judged.
func (c *Clock) Tokens() time.Time { return c.at(c.Offsets().Tokens) }

// Credentials is the time by which sessions expire.
func (c *Clock) Credentials() time.Time { return c.at(c.Offsets().Credentials) }

// Signatures is the time by which signatures and presigned URLs are judged.
func (c *Clock) Signatures() time.Time { return c.at(c.Offsets().Signatures) }

func (c *Clock) at(ahead time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base().Add(c.offset + ahead).UTC()
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

// Offsets are the offsets as they are.
func (c *Clock) Offsets() Offsets {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offsets
}

// ChangeOffsets lets change set some offsets and leave the others. It must not
// call the Clock.
func (c *Clock) ChangeOffsets(change func(*Offsets)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.offsets)
}

// Reset goes back to the base clock.
func (c *Clock) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset, c.offsets = 0, Offsets{}
}
