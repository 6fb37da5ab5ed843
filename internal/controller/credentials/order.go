package credentials

import (
	"cmp"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// order is in which order the requests of each namespace came, and which have something. It is
// safe for concurrent use.
type order struct {
	mu    sync.Mutex
	count int
	ranks map[string]map[string]rank
	// states are those of the requests that have something, or are too many for now.
	states map[types.NamespacedName]state
}

// state is that a request has something, and that it waits because it is too many.
type state struct{ holds, waits bool }

// rank is when a request came. Of two of one second that one is first which was seen first, so
// that no request that is made later comes before one that was counted.
type rank struct {
	created int64
	seen    int
}

func (r rank) before(other rank) bool {
	return cmp.Or(cmp.Compare(r.created, other.created), cmp.Compare(r.seen, other.seen)) < 0
}

// set notes a request that there is, or is not any more, and returns the one whose turn that
// may make it.
func (o *order) set(m mark, there bool) []types.NamespacedName {
	o.mu.Lock()
	defer o.mu.Unlock()
	of := o.ranks[m.name.Namespace]
	was, known := of[m.name.Name]
	switch {
	case !there:
		if delete(of, m.name.Name); len(of) == 0 {
			delete(o.ranks, m.name.Namespace)
		}
		return o.next(m.name.Namespace)
	case known && was.created == m.created:
		return nil
	case of == nil:
		if of = map[string]rank{}; o.ranks == nil {
			o.ranks = map[string]map[string]rank{}
		}
		o.ranks[m.name.Namespace] = of
	}
	o.count++
	of[m.name.Name] = rank{m.created, o.count}
	return nil
}

// note takes whether a request has something and whether it is too many, and returns the one
// whose turn that may make it. One that waits is woken alone: when it has its turn, it wakes
// the next.
func (o *order) note(request types.NamespacedName, holds, waits bool) []types.NamespacedName {
	o.mu.Lock()
	defer o.mu.Unlock()
	was, is := o.states[request], state{holds, waits}
	if delete(o.states, request); is != (state{}) {
		if o.states == nil {
			o.states = map[types.NamespacedName]state{}
		}
		o.states[request] = is
	}
	if was.holds && !holds || was.waits && !waits {
		return o.next(request.Namespace)
	}
	return nil
}

// next is the first of those that wait in a namespace, or none.
func (o *order) next(namespace string) (first []types.NamespacedName) {
	var least rank
	for name, each := range o.ranks[namespace] {
		request := types.NamespacedName{Namespace: namespace, Name: name}
		if o.states[request].waits && (first == nil || each.before(least)) {
			first, least = []types.NamespacedName{request}, each
		}
	}
	return first
}

// ahead is how many other requests of the namespace have something or came before. One that
// is not known yet comes after all.
func (o *order) ahead(request types.NamespacedName) (count int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of := o.ranks[request.Namespace]
	own, known := of[request.Name]
	for name, each := range of {
		if name == request.Name {
			continue
		}
		if !known || each.before(own) || o.states[types.NamespacedName{Namespace: request.Namespace, Name: name}].holds {
			count++
		}
	}
	return count
}
