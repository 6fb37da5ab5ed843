package capacity

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"

	kit "github.com/tabard-dev/tabard/internal/controller"
)

// workers is how many objects are looked at at once. What takes time in a pass
// are its writes.
const workers = 4

// run is the controller for one set of kinds.
type run struct {
	*Controller
	served served
	caches map[*kind]cache.Cache
	// life ends with the run.
	life   context.Context
	desk   *desk
	memory *memory
	queue  workqueue.TypedRateLimitingInterface[Request]
}

// current is the run there is, for those who wake it from outside.
type current struct {
	mu  sync.Mutex
	run *run
}

func (c *current) set(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run = r
}

func (c *current) get() *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run
}

// runWhileServed runs for the kinds that are served now, until others are, or
// the context ends.
func (c *Controller) runWhileServed(ctx context.Context) {
	now, err := c.prober.probe(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot find out which kinds are served")
	}
	if err == nil && (c.told == nil || !now.equal(*c.told)) {
		log.FromContext(ctx).Info("the kinds that are watched", "kinds", now.names(), "mayNotBeListed", now.refused, "migration", now.migration)
		c.told = &now
	}
	if err != nil || now.isEmpty() {
		wait(ctx, c.options.Probe)
		return
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.runFor(runCtx, now) }()
	for {
		select {
		case err := <-ended:
			if ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "a watch or the controller has ended by itself; it starts again")
				wait(ctx, c.options.Probe)
			}
			return
		case <-time.After(c.options.Probe):
		}
		next, err := c.prober.probe(ctx)
		if err == nil && !next.equal(now) {
			log.FromContext(ctx).Info("other kinds are served now")
			stop()
			if err := <-ended; err != nil {
				log.FromContext(ctx).V(1).Info("the run has ended", "because", err.Error())
			}
			return
		}
	}
}

// wait returns after a time, or when the context ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// runFor runs for a set of kinds until the context ends. It returns when all of
// it has ended.
func (c *Controller) runFor(ctx context.Context, what served) error {
	ctx, stop := context.WithCancel(ctx)
	r := &run{Controller: c, served: what, life: ctx, caches: map[*kind]cache.Cache{}, memory: newMemory()}
	r.desk = newDesk(ctx, c.options.Types, c.options.Limit, func(request Request) { r.queue.Add(request) })
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for k := range what.versions {
		made, err := r.cacheOf(k)
		if err != nil {
			return fmt.Errorf("make the cache of %s: %w", k.GroupKind, err)
		}
		if err := index(ctx, made, k); err != nil {
			return fmt.Errorf("index %s: %w", k.GroupKind, err)
		}
		r.caches[k] = made
		running.Go(func() {
			if err := made.Start(ctx); err != nil {
				log.FromContext(ctx).Error(err, "a cache ended", "kind", k.GroupKind.String())
				stop()
			}
		})
	}
	loop, err := r.controller(ctx)
	if err != nil {
		return err
	}
	defer c.metrics.ForgetAll() // the next run knows which objects it looks at
	defer c.current.set(nil)
	return loop.Start(ctx)
}

// cacheOf makes the cache of a kind.
func (r *run) cacheOf(k *kind) (cache.Cache, error) {
	isAnnotated := k.annotated != ""
	options := cache.Options{
		HTTPClient:                   r.manager.GetHTTPClient(),
		Scheme:                       scheme(r.served.of(k)),
		Mapper:                       r.manager.GetRESTMapper(),
		DefaultTransform:             trim(isAnnotated, isAnnotated && r.options.Selectors != nil),
		DefaultUnsafeDisableDeepCopy: new(true), // nobody here changes what was read
	}
	if isAnnotated {
		options.SyncPeriod = &r.options.Sync
	}
	switch {
	case k.only != "":
		named := fields.OneTermEqualSelector("metadata.name", k.only)
		options.ByObject = map[client.Object]cache.ByObject{&object{}: {Field: named}}
	case r.options.Namespace != "":
		options.DefaultNamespaces = map[string]cache.Config{r.options.Namespace: {}}
	}
	return cache.New(r.manager.GetConfig(), options)
}

// controller makes the loop, with its watches.
func (r *run) controller(ctx context.Context) (controller.TypedController[Request], error) {
	base := log.FromContext(ctx)
	passes := kit.Measured(r.metrics.Metrics, r)
	loop, err := controller.NewTypedUnmanaged("capacity", controller.TypedOptions[Request]{
		Reconciler:              passes,
		RateLimiter:             passes,
		MaxConcurrentReconciles: workers,
		SkipNameValidation:      new(true), // one run follows another
		Logger:                  base,
		LogConstructor: func(request *Request) logr.Logger {
			if request == nil {
				return base
			}
			return base.WithValues("kind", request.Kind, "namespace", request.Namespace, "name", request.Name)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("make the controller: %w", err)
	}
	for _, source := range r.sources() {
		if err := loop.Watch(source); err != nil {
			return nil, fmt.Errorf("watch %s: %w", source, err)
		}
	}
	return loop, nil
}
