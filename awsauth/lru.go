package awsauth

import (
	"container/list"
	"time"
)

// idleTime is how long an entry is kept that nobody asks for.
const idleTime = time.Hour

// lru keeps what was used last, at most bound entries and none that was not
// used for idleTime. It is not safe for concurrent use.
type lru[K comparable, V any] struct {
	bound int
	// evicted is called with each value that is forgotten, nil for nothing.
	evicted func(V)
	order   *list.List // of *lruEntry, the last used in front
	entries map[K]*list.Element
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	used  time.Time
}

func newLRU[K comparable, V any](bound int, evicted func(V)) *lru[K, V] {
	return &lru[K, V]{bound: bound, evicted: evicted, order: list.New(), entries: map[K]*list.Element{}}
}

func (l *lru[K, V]) get(key K, now time.Time) (value V, ok bool) {
	l.expire(now)
	element, ok := l.entries[key]
	if !ok {
		return value, false
	}
	entry := element.Value.(*lruEntry[K, V])
	entry.used = now
	l.order.MoveToFront(element)
	return entry.value, true
}

// put keeps a value in place of the key's present one.
func (l *lru[K, V]) put(key K, value V, now time.Time) {
	if element, ok := l.entries[key]; ok {
		l.remove(element)
	}
	l.entries[key] = l.order.PushFront(&lruEntry[K, V]{key, value, now})
	if l.order.Len() > l.bound {
		l.remove(l.order.Back())
	}
}

// take forgets a key and returns its value.
func (l *lru[K, V]) take(key K) (value V, ok bool) {
	element, ok := l.entries[key]
	if !ok {
		return value, false
	}
	value = element.Value.(*lruEntry[K, V]).value
	l.remove(element)
	return value, true
}

// drop forgets all values of which that is true.
func (l *lru[K, V]) drop(unwanted func(V) bool) {
	for _, element := range l.entries {
		if unwanted(element.Value.(*lruEntry[K, V]).value) {
			l.remove(element)
		}
	}
}

func (l *lru[K, V]) len() int { return l.order.Len() }

func (l *lru[K, V]) expire(now time.Time) {
	for oldest := l.order.Back(); oldest != nil && now.Sub(oldest.Value.(*lruEntry[K, V]).used) > idleTime; oldest = l.order.Back() {
		l.remove(oldest)
	}
}

func (l *lru[K, V]) remove(element *list.Element) {
	entry := l.order.Remove(element).(*lruEntry[K, V])
	delete(l.entries, entry.key)
	if l.evicted != nil {
		l.evicted(entry.value)
	}
}
