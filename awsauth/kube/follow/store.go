package follow

import (
	"maps"
	"slices"
	"sync"
)

// Store is a Sink that keeps objects by a key. It is safe for concurrent use.
type Store[T any] struct {
	// Key is what an object is found by; two objects of one key are one.
	Key func(T) string
	// Changed is told, before anybody can find it, of an object that was or is kept, and
	// of whether it was there from the beginning; nil is nobody. It must not ask the Store.
	Changed func(before, now *T, first bool)

	mu      sync.RWMutex
	objects map[string]T
}

// Get is the object of a key; false if there is none.
func (s *Store[T]) Get(key string) (object T, found bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	object, found = s.objects[key]
	return object, found
}

// Len is how many objects there are.
func (s *Store[T]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.objects)
}

// All are the objects, in no order. The slice is the caller's.
func (s *Store[T]) All() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq(make([]T, 0, len(s.objects)), maps.Values(s.objects))
}

// Replace implements Sink.
func (s *Store[T]) Replace(objects []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, first := s.objects, s.objects == nil
	s.objects = make(map[string]T, len(objects))
	for i := range objects {
		key := s.key(objects[i])
		s.objects[key] = objects[i]
		before, had := old[key]
		s.tell(pointer(before, had), &objects[i], first)
		delete(old, key)
	}
	for _, gone := range old {
		s.tell(&gone, nil, false)
	}
}

// Set implements Sink.
func (s *Store[T]) Set(object T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = map[string]T{}
	}
	key := s.key(object)
	before, had := s.objects[key]
	s.objects[key] = object
	s.tell(pointer(before, had), &object, false)
}

// Delete implements Sink.
func (s *Store[T]) Delete(object T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.key(object)
	before, had := s.objects[key]
	delete(s.objects, key)
	if had {
		s.tell(&before, nil, false)
	}
}

func (s *Store[T]) key(object T) string {
	if s.Key == nil {
		return ""
	}
	return s.Key(object)
}

func (s *Store[T]) tell(before, now *T, first bool) {
	if s.Changed != nil {
		s.Changed(before, now, first)
	}
}

func pointer[T any](value T, is bool) *T {
	if !is {
		return nil
	}
	return &value
}
