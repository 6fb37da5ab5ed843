// Package election lets each controller of a process act only while the process
// holds that controller's own leases, whichever other controllers it runs: a
// manager of controller-runtime has one lease for all that it runs.
//
//	 waits for the set's leases ──▶ waits for the controller's ──▶ the controller runs
//	                                 (one after another, each         │
//	                                  renewed from then on)           ▼
//	the process ends at once ◀── any lease is lost      told to end: the controllers
//	                                                    stop, then leases are given up
package election

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	locks "sigs.k8s.io/controller-runtime/pkg/leaderelection"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Duration is how long a lease is held after its holder is gone, if nothing else is
// said: controller-runtime's.
const Duration = 15 * time.Second

// Options say where the leases are.
type Options struct {
	// On says that leases are waited for; without it all runs at once.
	On bool
	// Config reaches the cluster of the leases; nil is the manager's own.
	Config *rest.Config
	// Namespace is that of the leases; empty is the pod's own.
	Namespace string
	// Duration is how long a lease is held after its holder is gone; 0 is the
	// default. Others are seen to be gone by the duration that they wrote.
	Duration time.Duration
	// First are held before any controller's, in this order.
	First []string
}

// Election runs the controllers of a process. It may be used by one goroutine
// until Run.
type Election struct {
	mgr     ctrl.Manager
	options Options
	// at tells of events where the leases are.
	at         cluster.Cluster
	first      []resourcelock.Interface
	candidates []*candidate
	refusals   refusals
	// lost takes the first lease that was lost.
	lost chan string
}

// candidate is what waits for leases, and may run while all of them are held.
type candidate struct {
	locks     []resourcelock.Interface
	runnables []manager.Runnable
	// closed says that it stands, and takes nothing more.
	closed  atomic.Bool
	elected chan struct{}
}

// New makes the election of a manager, which must not have one itself.
func New(mgr ctrl.Manager, options Options) (*Election, error) {
	if options.Config == nil {
		options.Config = mgr.GetConfig()
	}
	if options.Duration == 0 {
		options.Duration = Duration
	}
	e := &Election{mgr: mgr, options: options, refusals: refusals{errs: map[string]error{}}, lost: make(chan string, 1)}
	var err error
	if e.at, err = cluster.New(options.Config, func(o *cluster.Options) { o.Scheme = mgr.GetScheme() }); err != nil {
		return nil, err
	}
	if e.first, err = e.newLocks(options.First); err != nil {
		return nil, err
	}
	if err := mgr.AddReadyzCheck("leases", e.refusals.check); err != nil {
		return nil, err
	}
	return e, mgr.Add(manager.RunnableFunc(e.run))
}

// Manager is the manager for one controller: what the controller adds to it, and
// what must not run twice, runs while all the leases are held. They are waited for
// in this order, which must be the same in all processes.
func (e *Election) Manager(leases ...string) (ctrl.Manager, error) {
	found, err := e.newLocks(leases)
	if err != nil {
		return nil, err
	}
	c := &candidate{locks: found, elected: make(chan struct{})}
	e.candidates = append(e.candidates, c)
	return &electedManager{Manager: e.mgr, candidate: c}, nil
}

// Run runs the manager until ctx ends or a lease is lost. In the second case others
// may act from now on, so that it waits for nothing: the process must end.
func (e *Election) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- e.mgr.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case lease := <-e.lost:
		return fmt.Errorf("lost the lease %s, so that another process may act now", lease)
	}
}

// newLocks makes what holds leases. Each has a holder's name of its own.
func (e *Election) newLocks(leases []string) (out []resourcelock.Interface, err error) {
	if !e.options.On {
		return nil, nil
	}
	for _, name := range leases {
		lock, err := locks.NewResourceLock(rest.CopyConfig(e.options.Config), e.at, locks.Options{
			LeaderElection: true, LeaderElectionID: name, LeaderElectionNamespace: e.options.Namespace, RenewDeadline: e.renew(),
		})
		if err != nil {
			return nil, err
		}
		out = append(out, lock)
	}
	return out, nil
}

// A holder gives up 11/12 of the duration after it renewed the lease last: before
// others may take it.
func (e *Election) renew() time.Duration { return e.options.Duration * 3 / 4 }
func (e *Election) retry() time.Duration { return e.options.Duration / 6 }

// run runs all candidates, each when it is elected, until ctx ends or one fails.
func (e *Election) run(ctx context.Context) error {
	release, held := e.hold(ctx, e.first)
	defer release()
	if !held {
		return nil
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, c := range e.candidates {
		c.closed.Store(true)
		all.Go(func() error { return e.stand(ctx, c) })
	}
	return all.Wait()
}

// stand waits for a candidate's leases, runs what it runs, and gives the leases up
// when all of that has ended.
func (e *Election) stand(ctx context.Context, c *candidate) error {
	release, held := e.hold(ctx, c.locks)
	defer release()
	if !held {
		return nil
	}
	close(c.elected)
	running, ctx := errgroup.WithContext(ctx)
	for _, r := range c.runnables {
		running.Go(func() error { return r.Start(ctx) })
	}
	return running.Wait()
}

// hold waits until all leases are held, and says false if ctx ends before. Release
// gives up, the last one first, what is held.
func (e *Election) hold(ctx context.Context, wanted []resourcelock.Interface) (release func(), held bool) {
	ctx = logr.NewContext(ctx, e.mgr.GetLogger().WithName("leaderelection"))
	var holds []func()
	release = func() {
		for i := range holds {
			holds[len(holds)-1-i]()
		}
	}
	for _, lock := range wanted {
		e.refusals.wait(ctx, lock, e.retry())
		one, held := e.holdOne(ctx, lock)
		holds = append(holds, one)
		if !held {
			return release, false
		}
	}
	return release, ctx.Err() == nil
}

// holdOne waits until one lease is held. It is renewed until release, also while
// those that need it stop.
func (e *Election) holdOne(ctx context.Context, lock resourcelock.Interface) (release func(), held bool) {
	renewing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	leading := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: lockName(lock), ReleaseOnCancel: true,
		LeaseDuration: e.options.Duration, RenewDeadline: e.renew(), RetryPeriod: e.retry(),
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(leading) }, OnStoppedLeading: func() {}},
	})
	if err != nil {
		panic(err) // the times are of one duration, and the rest is above
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		elector.Run(renewing)
		if renewing.Err() == nil {
			select {
			case e.lost <- lock.Describe():
			default: // another one is told of
			}
		}
	})
	release = func() {
		cancel()
		ended.Wait()
	}
	select {
	case <-leading:
		return release, true
	case <-ctx.Done():
		return release, false
	}
}
