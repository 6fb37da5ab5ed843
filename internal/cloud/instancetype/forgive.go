package instancetype

import (
	"maps"
	"slices"
)

// Forgive forgets what has failed, so that the next question is asked at once: a
// Secret or a certificate has changed, and the old failures say nothing any more.
// Answers stay.
func (t *Types) Forgive() {
	t.mu.Lock()
	shelves := slices.Collect(maps.Values(t.shelves))
	tables := slices.Collect(maps.Values(t.tables))
	t.mu.Unlock()
	for _, each := range shelves {
		each.forgive()
	}
	for _, each := range tables {
		each.forgive()
	}
}

func (s *shelf) forgive() {
	s.types.forgive()
	s.mu.Lock()
	lookups := slices.Collect(maps.Values(s.lookups))
	s.mu.Unlock()
	for _, each := range lookups {
		each.forgive()
	}
}

func (k *kept[T]) forgive() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = nil
}
