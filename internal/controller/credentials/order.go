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
	holds map[types.NamespacedName]bool
}

// rank is when a request came. Of two of one second that one is first which was seen first, so
// that no request that is made later comes before one that was counted.
type rank struct {
	created int64
	seen    int
}

// set notes a request that there is, or is not any more.
func (o *order) set(m mark, there bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of := o.ranks[m.name.Namespace]
	was, known := of[m.name.Name]
	switch {
	case !there:
		if delete(of, m.name.Name); len(of) == 0 {
			delete(o.ranks, m.name.Namespace)
		}
		return
	case known && was.created == m.created:
		return
	case of == nil:
		if of = map[string]rank{}; o.ranks == nil {
			o.ranks = map[string]map[string]rank{}
		}
		o.ranks[m.name.Namespace] = of
	}
	o.count++
	of[m.name.Name] = rank{m.created, o.count}
}

// hold notes whether a request has something.
func (o *order) hold(request types.NamespacedName, holds bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !holds {
		delete(o.holds, request)
		return
	}
	if o.holds == nil {
		o.holds = map[types.NamespacedName]bool{}
	}
	o.holds[request] = true
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
		before := !known || cmp.Or(cmp.Compare(each.created, own.created), cmp.Compare(each.seen, own.seen)) < 0
		if before || o.holds[types.NamespacedName{Namespace: request.Namespace, Name: name}] {
			count++
		}
	}
	return count
}
