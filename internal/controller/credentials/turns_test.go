package credentials

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// line is workers, a queue and AWS, for requests that need three changes each.
type line struct {
	controller *Controller
	queue      workqueue.TypedInterface[reconcile.Request]
	workers    sync.WaitGroup

	mu sync.Mutex
	// made are the namespaces of the changes, in their order.
	made []string
	// before are how many changes of others were made while one of the namespace shop waited.
	before []int
	done   map[reconcile.Request]bool
}

func newLine(ctx context.Context) *line {
	l := &line{queue: workqueue.NewTyped[reconcile.Request](), done: map[reconcile.Request]bool{}}
	l.controller = &Controller{
		known: &known{wake: l.queue.Add}, turns: newTurns(atOnce), changes: &changes{limiter: rate.NewLimiter(defaultWrites, defaultWrites)},
	}
	for range atOnce {
		l.workers.Go(func() {
			for {
				request, over := l.queue.Get()
				if over {
					return
				}
				l.pass(ctx, request)
				l.queue.Done(request)
			}
		})
	}
	return l
}

// pass is what Reconcile does about turns.
func (l *line) pass(ctx context.Context, request reconcile.Request) {
	if !l.controller.turns.enter(request) {
		return
	}
	defer l.controller.leave(request)
	for range 3 {
		if request.Namespace == "shop" {
			synctest.Wait() // what was let through in this instant is noted
		}
		since := l.count()
		if l.controller.changes.wait(ctx, request.Namespace) != nil {
			return
		}
		l.mu.Lock()
		if request.Namespace == "shop" {
			l.before = append(l.before, len(l.made)-since)
		}
		l.made = append(l.made, request.Namespace)
		l.mu.Unlock()
		<-time.After(200 * time.Millisecond) // IAM
	}
	l.mu.Lock()
	l.done[request] = true
	l.mu.Unlock()
}

func (l *line) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.made)
}

// end waits until nothing is left to do, and checks that so many requests were served.
func (l *line) end(t *testing.T, served int) {
	t.Helper()
	<-time.After(10 * time.Minute)
	l.queue.ShutDown()
	l.workers.Wait()
	if len(l.done) != served {
		t.Errorf("%d requests were served, want %d", len(l.done), served)
	}
	if turns := l.controller.turns; turns.total != 0 || len(turns.waits) != 0 || len(turns.running) != 0 {
		t.Errorf("what is left: %d that run, %d that wait", turns.total, len(turns.waits))
	}
}

func requestOf(namespace string, number int) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(number)}}
}

// TestACrowdOfOneNamespaceKeepsNobodyWaiting: 600 requests of one namespace, and then one of
// another. While a change of that one waits, at most two of the crowd are made, and in the end
// all are.
func TestACrowdOfOneNamespaceKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t.Context())
		for i := range 600 {
			l.queue.Add(requestOf("crowd", i))
		}
		<-time.After(10 * time.Second)
		crowd := l.count()
		l.queue.Add(requestOf("shop", 0))
		<-time.After(30 * time.Second)
		l.mu.Lock()
		if crowd < 50 || len(l.before) != 3 || slices.Max(l.before) > 2 {
			t.Errorf("after %d changes of the crowd, so many were made while each of the other's waited: %v; want three times two at most", crowd, l.before)
		}
		l.mu.Unlock()
		l.end(t, 601)
	})
}

// TestManyNamespacesShareTheWorkers: no namespace is without its turn.
func TestManyNamespacesShareTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t.Context())
		for i := range 30 {
			for of := range 20 {
				l.queue.Add(requestOf(fmt.Sprint("team-", of), i))
			}
		}
		<-time.After(time.Minute)
		l.mu.Lock()
		made := map[string]int{}
		for _, namespace := range l.made {
			made[namespace]++
		}
		least, most := len(l.made), 0
		for of := range 20 {
			count := made[fmt.Sprint("team-", of)]
			least, most = min(least, count), max(most, count)
		}
		if least < 20 || most > 45 {
			t.Errorf("in a minute between %d and %d changes of a namespace were made, want about 30 of each", least, most)
		}
		l.mu.Unlock()
		l.end(t, 600)
	})
}

// TestWhoWaitsNoMoreGivesItsTurnBack.
func TestWhoWaitsNoMoreGivesItsTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &changes{limiter: rate.NewLimiter(1, 1)}
		must.Do(t, c.wait(t.Context(), "a"))
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		for i := range 10 {
			ended.Go(func() {
				if err := c.wait(ctx, fmt.Sprint(i%3)); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		<-time.After(2500 * time.Millisecond)
		cancel()
		ended.Wait()
		must.Do(t, c.wait(t.Context(), "b"))
		if c.busy || len(c.rounds.order)+len(c.rounds.waiting) > 0 {
			t.Errorf("what is left: %+v", c.rounds)
		}
	})
}
