package kube

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/roleselector"
)

// How fast a controller is given what is woken: the first at once, and a thousand
// in less than three seconds.
const (
	wokenPerSecond = 400
	wokenAtOnce    = 100
)

// head is how long a controller's workers wait for the first reading at the most,
// so that a start does not write into every status that nothing is known yet.
const head = 10 * time.Second

// Source wakes the resources of a kind whose decision a change has made another,
// behind what else waits in the controller's queue. Use it with WatchesRawSource.
func (s *Selectors) Source(kind schema.GroupVersionKind) source.Source {
	return &wakes{selectors: s, kind: kind}
}

// Wake has a resource looked at, of which no decision has changed: whoever keeps sessions
// of its own hands it to their OnRoom. It does not wait.
func (s *Selectors) Wake(resource roleselector.Object) { s.sleepers.wake(resource) }

// wakes is a SyncingSource.
type wakes struct {
	selectors *Selectors
	kind      schema.GroupVersionKind
}

// Start implements source.Source.
func (w *wakes) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	if !w.selectors.kinds[w.kind] {
		return fmt.Errorf("%s is not among the kinds whose resources are selected", w.kind)
	}
	l := newLine()
	w.selectors.sleepers.join(w.kind, l)
	go func() {
		defer w.selectors.sleepers.leave(w.kind, l)
		l.drain(ctx, func(o roleselector.Object) { enqueue(queue, o) })
	}()
	return nil
}

// WaitForSync implements source.SyncingSource. It is no error that selectors
// cannot be read: that would end the manager.
func (w *wakes) WaitForSync(ctx context.Context) error {
	select {
	case <-w.selectors.synced:
	case <-time.After(head):
	case <-ctx.Done():
	}
	return nil
}

// String names the source in logs.
func (w *wakes) String() string { return "role selectors: " + w.kind.String() }

func enqueue(queue workqueue.TypedRateLimitingInterface[reconcile.Request], o roleselector.Object) {
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.Namespace, Name: o.Name}}
	if ranked, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		ranked.AddWithOpts(priorityqueue.AddOpts{Priority: lowPriority(priorityqueue.AddOpts{}.Priority)}, request)
		return
	}
	queue.Add(request)
}

// lowPriority is handler.LowPriority in the type of AddOpts, which is int in older
// versions of controller-runtime.
func lowPriority[T int | *int](T) T {
	low := handler.LowPriority
	if value, ok := any(low).(T); ok {
		return value
	}
	return any(&low).(T)
}

// sleepers are the lines of the controllers of each kind.
type sleepers struct {
	mu    sync.Mutex
	lines map[schema.GroupVersionKind][]*line
}

func (s *sleepers) join(kind schema.GroupVersionKind, l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = map[schema.GroupVersionKind][]*line{}
	}
	s.lines[kind] = append(s.lines[kind], l)
}

func (s *sleepers) leave(kind schema.GroupVersionKind, l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[kind] = slices.DeleteFunc(s.lines[kind], func(other *line) bool { return other == l })
}

func (s *sleepers) wake(o roleselector.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines[kindOf(o)] {
		l.add(o)
	}
}

// line is where woken resources stand, each once, until the controller's queue may
// have them. Namespaces take turns, so that none waits for all of another's.
type line struct {
	mu      sync.Mutex
	waiting map[string][]roleselector.Object
	order   []string // of the namespaces with resources that wait
	has     map[roleselector.Object]struct{}
	ready   chan struct{}
}

func newLine() *line {
	return &line{
		waiting: map[string][]roleselector.Object{}, has: map[roleselector.Object]struct{}{}, ready: make(chan struct{}, 1),
	}
}

func (l *line) add(o roleselector.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, waits := l.has[o]; waits {
		return
	}
	l.has[o] = struct{}{}
	if len(l.waiting[o.Namespace]) == 0 {
		l.order = append(l.order, o.Namespace)
	}
	l.waiting[o.Namespace] = append(l.waiting[o.Namespace], o)
	select {
	case l.ready <- struct{}{}:
	default: // it has been said already
	}
}

// next takes the first resource of the next namespace; false if none waits.
func (l *line) next() (o roleselector.Object, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.order) == 0 {
		return o, false
	}
	namespace := l.order[0]
	l.order = l.order[1:]
	o = l.waiting[namespace][0]
	delete(l.has, o)
	if rest := l.waiting[namespace][1:]; len(rest) > 0 {
		l.waiting[namespace] = rest
		l.order = append(l.order, namespace)
	} else {
		delete(l.waiting, namespace)
	}
	return o, true
}

// drain gives out what waits, at its pace, until the context ends.
func (l *line) drain(ctx context.Context, give func(roleselector.Object)) {
	pace := flowcontrol.NewTokenBucketRateLimiter(wokenPerSecond, wokenAtOnce)
	for {
		o, found := l.next()
		if !found {
			select {
			case <-l.ready:
				continue
			case <-ctx.Done():
				return
			}
		}
		if pace.Wait(ctx) != nil {
			return
		}
		give(o)
	}
}
