package credentials

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// rounds hand out what waits by turns of namespaces, and of one namespace in the order in which
// it came: however much one of them has, the next of another comes soon.
type rounds[T comparable] struct {
	// order are the namespaces that wait, whose turn is next first.
	order   []string
	waiting map[string][]T
}

func (r *rounds[T]) push(namespace string, item T) {
	if r.waiting == nil {
		r.waiting = map[string][]T{}
	}
	if len(r.waiting[namespace]) == 0 {
		r.order = append(r.order, namespace)
	}
	r.waiting[namespace] = append(r.waiting[namespace], item)
}

// pop takes the next of those namespaces that may.
func (r *rounds[T]) pop(may func(namespace string) bool) (item T, is bool) {
	for i, namespace := range r.order {
		if !may(namespace) {
			continue
		}
		item = r.waiting[namespace][0]
		r.order = slices.Delete(r.order, i, i+1)
		if r.waiting[namespace] = r.waiting[namespace][1:]; len(r.waiting[namespace]) > 0 {
			r.order = append(r.order, namespace)
		} else {
			delete(r.waiting, namespace)
		}
		return item, true
	}
	return item, false
}

// drop takes one out that waits no more; false if it is not there.
func (r *rounds[T]) drop(namespace string, item T) bool {
	i := slices.Index(r.waiting[namespace], item)
	if i < 0 {
		return false
	}
	if r.waiting[namespace] = slices.Delete(r.waiting[namespace], i, i+1); len(r.waiting[namespace]) == 0 {
		delete(r.waiting, namespace)
		r.order = slices.DeleteFunc(r.order, func(each string) bool { return each == namespace })
	}
	return true
}

// turns let passes begin: of one namespace half of the workers at most, so that there are some
// for the requests of others. Who may not begin holds no worker, and is woken when its turn
// comes. It is safe for concurrent use.
type turns struct {
	mu      sync.Mutex
	atOnce  int
	running map[string]int
	total   int
	rounds  rounds[reconcile.Request]
	waits   map[reconcile.Request]bool
}

func newTurns(atOnce int) *turns {
	return &turns{atOnce: atOnce, running: map[string]int{}, waits: map[reconcile.Request]bool{}}
}

func (t *turns) may(namespace string) bool {
	return t.running[namespace] == 0 || t.total < t.atOnce/2
}

// enter says whether a pass may begin now. One that has begun leaves.
func (t *turns) enter(request reconcile.Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.may(request.Namespace) {
		if !t.waits[request] {
			t.waits[request] = true
			t.rounds.push(request.Namespace, request)
		}
		return false
	}
	t.running[request.Namespace]++
	t.total++
	return true
}

// leave ends a pass, and says which is to be woken, if one waits.
func (t *turns) leave(request reconcile.Request) (next reconcile.Request, is bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total--
	if t.running[request.Namespace]--; t.running[request.Namespace] == 0 {
		delete(t.running, request.Namespace)
	}
	if next, is = t.rounds.pop(t.may); is {
		delete(t.waits, next)
	}
	return next, is
}

// changes limit how many changes are made in AWS, by turns of namespaces. It is safe for
// concurrent use.
type changes struct {
	limiter *rate.Limiter

	mu sync.Mutex
	// busy says that somebody waits for the limiter. The others wait for him.
	busy   bool
	rounds rounds[chan struct{}]
}

// wait waits until a change may be made for a request of a namespace.
func (c *changes) wait(ctx context.Context, namespace string) error {
	c.mu.Lock()
	turn := make(chan struct{})
	if c.busy {
		c.rounds.push(namespace, turn)
	} else {
		c.busy = true
		close(turn)
	}
	c.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		c.mu.Lock()
		waited := c.rounds.drop(namespace, turn)
		c.mu.Unlock()
		if !waited {
			c.next() // its turn came meanwhile
		}
		return context.Cause(ctx)
	}
	defer c.next()
	return c.limiter.Wait(ctx)
}

// next ends a turn.
func (c *changes) next() {
	c.mu.Lock()
	defer c.mu.Unlock()
	turn, is := c.rounds.pop(func(string) bool { return true })
	if c.busy = is; is {
		close(turn)
	}
}
