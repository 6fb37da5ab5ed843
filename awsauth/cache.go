package awsauth

import (
	"container/list"
	"math/rand/v2"
	"time"
)

// idleTime is how long an entry is kept that nobody asks for.
const idleTime = time.Hour

// cache keeps a bounded number of values, and none that was not used for idleTime.
// If there is one too many then those go that are worth nothing any more, else one
// of the half that was used longest ago. Not the very last: of values that are asked
// for in turn that is the next to be asked for, and with one too many none would
// ever be found. It is not safe for concurrent use.
type cache[K comparable, V any] struct {
	bound func() int
	// spent says that a value is worth nothing any more; nil is never.
	spent func(V, time.Time) bool
	// evicted is called with each value that goes, and whether it went for another
	// although it was worth something; nil is nothing.
	evicted func(value V, displaced bool)
	order   *list.List // of *cacheEntry, the last used in front
	entries map[K]*list.Element
}

type cacheEntry[K comparable, V any] struct {
	key   K
	value V
	used  time.Time
}

func newCache[K comparable, V any](bound func() int) *cache[K, V] {
	return &cache[K, V]{bound: bound, order: list.New(), entries: map[K]*list.Element{}}
}

func (c *cache[K, V]) get(key K, now time.Time) (value V, ok bool) {
	c.expire(now)
	element, ok := c.entries[key]
	if !ok {
		return value, false
	}
	entry := element.Value.(*cacheEntry[K, V])
	entry.used = now
	c.order.MoveToFront(element)
	return entry.value, true
}

// put keeps a value in place of the key's present one.
func (c *cache[K, V]) put(key K, value V, now time.Time) {
	if element, ok := c.entries[key]; ok {
		c.remove(element, false)
	}
	for bound := c.bound(); len(c.entries) > 0 && len(c.entries) >= bound; {
		c.makeRoom(now)
	}
	c.entries[key] = c.order.PushFront(&cacheEntry[K, V]{key, value, now})
}

// makeRoom forgets what is spent, else one value of the older half.
func (c *cache[K, V]) makeRoom(now time.Time) {
	if c.spent != nil && c.drop(func(value V) bool { return c.spent(value, now) }) {
		return
	}
	element := c.order.Back()
	for range rand.IntN((len(c.entries) + 1) / 2) {
		element = element.Prev()
	}
	c.remove(element, true)
}

// take forgets a key and returns its value.
func (c *cache[K, V]) take(key K) (value V, ok bool) {
	element, ok := c.entries[key]
	if !ok {
		return value, false
	}
	value = element.Value.(*cacheEntry[K, V]).value
	c.remove(element, false)
	return value, true
}

// drop forgets all values of which that is true, and says whether there were any.
func (c *cache[K, V]) drop(unwanted func(V) bool) bool {
	before := len(c.entries)
	for _, element := range c.entries {
		if unwanted(element.Value.(*cacheEntry[K, V]).value) {
			c.remove(element, false)
		}
	}
	return len(c.entries) < before
}

func (c *cache[K, V]) len() int { return len(c.entries) }

func (c *cache[K, V]) expire(now time.Time) {
	for oldest := c.order.Back(); oldest != nil && now.Sub(oldest.Value.(*cacheEntry[K, V]).used) > idleTime; oldest = c.order.Back() {
		c.remove(oldest, false)
	}
}

func (c *cache[K, V]) remove(element *list.Element, displaced bool) {
	entry := c.order.Remove(element).(*cacheEntry[K, V])
	delete(c.entries, entry.key)
	if c.evicted != nil {
		c.evicted(entry.value, displaced)
	}
}
