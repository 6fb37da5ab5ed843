// Package consistency lets changes take a while to be seen, as AWS's do: what
// was there before goes on to count until a delay has passed.
package consistency

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Dial draws how long changes take. The zero value is off: changes are seen at
// once. It is safe for concurrent use.
type Dial struct {
	mu      sync.Mutex
	longest time.Duration
	seed    uint64
	random  *rand.Rand
}

// Set makes each change take between nothing and the longest delay; nothing
// switches the dial off. The same seed and the same changes give the same delays.
func (d *Dial) Set(longest time.Duration, seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.longest, d.seed, d.random = max(0, longest), seed, nil
	if d.longest > 0 {
		d.random = rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it is to be repeatable, not secret
	}
}

// Get is what Set set.
func (d *Dial) Get() (longest time.Duration, seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.longest, d.seed
}

// On says whether changes take time. A dial that is nil is off.
func (d *Dial) On() bool {
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random != nil
}

// Draw is the delay of the next change.
func (d *Dial) Draw() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.random == nil {
		return 0
	}
	return time.Duration(d.random.Int64N(int64(d.longest) + 1))
}
