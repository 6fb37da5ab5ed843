package podidentity

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/eks"
)

const (
	// renewAfter is how old credentials get at most before they are renewed.
	renewAfter = 3 * time.Hour
	// worthKeeping is how long old credentials must last to be better than none.
	worthKeeping = 15 * time.Second
	// maxCached bounds the memory of an agent that is asked with many tokens.
	maxCached = 2000
)

// state is what credentials in the cache are good for.
type state int

const (
	missing state = iota
	// usable ones are due to be renewed, and last a while still.
	usable
	fresh
)

type cached struct {
	eks.PodCredentials
	since, renew time.Time
}

// cache has hashes of tokens as keys. It is safe for concurrent use.
type cache struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]cached
}

func keyOf(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

func (e cached) state(now time.Time) state {
	switch {
	case !now.Before(e.since) && now.Before(e.renew):
		return fresh
	case e.Expires.Sub(now) >= worthKeeping:
		return usable
	}
	return missing
}

func (c *cache) get(key [sha256.Size]byte, now time.Time) (eks.PodCredentials, state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.all[key]
	return found.PodCredentials, found.state(now)
}

// put keeps new credentials and returns those to answer: two callers with one
// token that came at once get the same.
func (c *cache) put(key [sha256.Size]byte, granted eks.PodCredentials, now time.Time) eks.PodCredentials {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.all[key]; other.state(now) == fresh {
		return other.PodCredentials
	}
	if c.all == nil {
		c.all = map[[sha256.Size]byte]cached{}
	}
	if len(c.all) >= maxCached {
		c.drop()
	}
	c.all[key] = cached{granted, now, now.Add(min(granted.Expires.Sub(now), renewAfter))}
	return granted
}

// drop forgets the oldest.
func (c *cache) drop() {
	var oldest [sha256.Size]byte
	first := true
	for key, one := range c.all {
		if first || one.since.Before(c.all[oldest].since) {
			oldest, first = key, false
		}
	}
	delete(c.all, oldest)
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = nil
}
