package kube

import (
	"context"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/roleselector"
)

// wave is a change whose resources are to be looked at: those that it concerns,
// or all.
type wave struct {
	change     roleselector.Change
	everything bool
}

// namespace is the one whose own people may have made the change; empty for a
// change that administrators make.
func (w wave) namespace() string {
	switch c := w.change; {
	case c.Namespace != nil:
		return c.Namespace.Name
	case c.NewChoice != nil:
		return c.NewChoice.Namespace()
	case c.OldChoice != nil:
		return c.OldChoice.Namespace()
	}
	return ""
}

// waves are those that wait for the worker. Who adds one never waits.
type waves struct {
	mu      sync.Mutex
	waiting []wave
	ready   chan struct{}
}

func newWaves() *waves { return &waves{ready: make(chan struct{}, 1)} }

func (w *waves) add(one wave) {
	w.mu.Lock()
	if one.everything {
		w.waiting = w.waiting[:0] // it includes them
	}
	w.waiting = append(w.waiting, one)
	w.mu.Unlock()
	select {
	case w.ready <- struct{}{}:
	default: // the worker has been told already
	}
}

func (w *waves) take() []wave {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.waiting
	w.waiting = nil
	return taken
}

// work looks at the waves, one after the other, until the context ends.
func (s *Selectors) work(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	turns := newTurns()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.waves.ready:
			for _, w := range s.waves.take() {
				s.look(w, turns)
			}
		case <-ticker.C:
			for _, refs := range turns.refill() {
				s.reconsider(refs)
			}
		}
	}
}

// look wakes what a wave concerns, or puts that off if its namespace has had its
// turns.
func (s *Selectors) look(w wave, turns *turns) {
	if w.everything {
		s.reconsider(s.objects.All())
		return
	}
	refs := s.objects.Affected(w.change)
	if len(refs) > 0 && turns.take(w.namespace(), refs) {
		s.reconsider(refs)
	}
}

// lookAtAll is told that more counts than before. Once all does, who waits for the
// first reading goes on.
func (s *Selectors) lookAtAll() {
	if s.index.Ready() {
		s.syncedOnce.Do(func() { close(s.synced) })
	}
	s.waves.add(wave{everything: true})
}

// reconsider decides anew and wakes the resources whose decision is another.
func (s *Selectors) reconsider(refs []roleselector.Object) {
	woken := 0
	for _, ref := range refs {
		s.deciding.Lock()
		different := s.objects.Reconsider([]roleselector.Object{ref})
		for _, r := range different {
			s.count(r.Object, r.Old, r.New)
		}
		s.deciding.Unlock()
		for _, r := range different {
			woken++
			s.logChange(r.Object, r.Old, r.New)
			s.sleepers.wake(r.Object)
		}
	}
	waveSizes.Observe(float64(woken))
}
