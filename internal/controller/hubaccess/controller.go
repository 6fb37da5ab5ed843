// Package hubaccess runs the controller that gives each accepted cluster of an Open
// Cluster Management hub in EKS its IAM role and its access entry: it observes the
// ManagedCluster, its HubAccess, the other clusters of the same suffix and, where the
// decision asks for it, AWS; lets core/hubaccess decide; and performs the steps.
//
// A pass has the name of a cluster as its key. It reads the ManagedCluster and the
// HubAccess past the cache. Kinds of Open Cluster Management are read without its modules.
package hubaccess

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// +kubebuilder:rbac:groups=cluster.open-cluster-management.io,resources=managedclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=work.open-cluster-management.io,resources=manifestworks,verbs=list
// +kubebuilder:rbac:groups=addon.open-cluster-management.io,resources=managedclusteraddons,verbs=list
// +kubebuilder:rbac:groups=operator.open-cluster-management.io,resources=clustermanagers,verbs=list
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=clustermanagers.operator.open-cluster-management.io,verbs=get
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=hubaccesses,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=hubaccesses/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Name is the controller's.
const Name = "hubaccess"

const (
	// atOnce is how many clusters are looked at at the same time: one that AWS keeps
	// waiting delays few others.
	atOnce = 8
	// soon is when a cache that is behind is asked again.
	soon = 200 * time.Millisecond
	// defaultWrites is how many changes a second are made in AWS.
	defaultWrites = 10
)

// Options are what the controller is made of.
type Options struct {
	// Flags are what the program's administrator says.
	Flags Flags
	// As is who the controller is in AWS; its region is the hub's.
	As  identity.Identity
	AWS AWS
	// Writes is how many changes a second are made in AWS; 0 is ten.
	Writes float64
	// Now is the clock, read once a pass; nil is the real one.
	Now func() time.Time
	// Metrics are those to tell of; nil means those that the manager serves.
	Metrics *Metrics
}

// Controller reconciles ManagedClusters with their HubAccess.
type Controller struct {
	kit      controller.Kit
	cache    cache.Cache
	options  Options
	settings *settings
	looks    *looks
	roles    *roleList
	account  *ownAccount
	told     told
	writes   *rate.Limiter
}

// Add registers a controller with a manager.
func Add(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Writes <= 0 {
		options.Writes = defaultWrites
	}
	if options.Metrics == nil {
		options.Metrics = sharedMetrics()
	}
	own, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), DefaultTransform: trim,
	})
	if err != nil {
		return err
	}
	kit := controller.NewKit(mgr, Name, core.Finalizer)
	kit.Events = onCluster{kit.Events}
	c := &Controller{
		kit: kit, cache: own, options: options, looks: &looks{now: options.Now}, roles: &roleList{options: options}, account: &ownAccount{options: options},
		settings: &settings{flags: options.Flags, live: kit.Live, now: options.Now, metrics: options.Metrics},
		writes:   rate.NewLimiter(rate.Limit(options.Writes), int(max(1, options.Writes))),
	}
	if err := errors.Join(addIndexes(ctx, own), mgr.Add(own)); err != nil {
		return err
	}
	passes := controller.Measured(kit.Metrics, c)
	run, err := ctrlcontroller.New(Name, mgr, ctrlcontroller.Options{
		MaxConcurrentReconciles: atOnce, Reconciler: passes, RateLimiter: passes,
	})
	if err != nil {
		return err
	}
	return c.watch(run)
}

// Reconcile is one pass over one cluster: observe, decide, perform, report.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	world, err := c.observe(ctx, request.Name)
	if errors.Is(err, errBehind) {
		return reconcile.Result{}, controller.Wait(soon)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := core.Decide(world)
	if plan.Look != core.LookNowhere {
		if wait := c.looks.wait(request.Name); wait > 0 {
			return reconcile.Result{}, controller.Wait(wait)
		}
		plan = c.decide(ctx, &world, plan.Look)
	}
	pass := &pass{Controller: c, world: world, plan: &plan, key: request}
	return pass.finish(ctx, pass.perform(ctx))
}

// decide looks at AWS until the decision asks for no more than was seen.
func (c *Controller) decide(ctx context.Context, world *core.World, look core.Look) core.Plan {
	world.AWS = c.look(ctx, *world, look)
	plan := core.Decide(*world)
	if plan.Look != core.LookNowhere && plan.Look != look {
		world.AWS = c.look(ctx, *world, plan.Look)
		plan = core.Decide(*world)
	}
	return plan
}
