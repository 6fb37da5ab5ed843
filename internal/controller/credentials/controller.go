// Package credentials runs the controller that fulfils CredentialsRequests: it observes a
// request, its grant, the objects by which workloads find credentials and the role in
// AWS, lets core/credentials decide, and performs the steps.
//
// A pass has the name of a request as its key, whatever woke it: the request itself, its
// grant, a namespace, a ServiceAccount or Secret that it writes, a boundary, an issuer,
// the platform, or a role that is not what it was when all roles were last read. Of what
// it follows it keeps names and digests; a pass reads the objects themselves.
package credentials

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

// +kubebuilder:rbac:groups=cloudcredential.openshift.io,resources=credentialsrequests,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cloudcredential.openshift.io,resources=credentialsrequests/status,verbs=patch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=credentialsgrants,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=credentialsgrants/status,verbs=patch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=oidcissuers,verbs=list;watch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=credentialsboundaries,verbs=get;list;watch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=credentialsboundaries/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=config.openshift.io,resources=infrastructures;authentications,resourceNames=cluster,verbs=get;list;watch
// +kubebuilder:rbac:groups=config.openshift.io,resources=clusteroperators,resourceNames=cloud-credential,verbs=get;list;watch
// +kubebuilder:rbac:groups=operator.openshift.io,resources=cloudcredentials,resourceNames=cluster,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=cloud-credential-operator-config,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,resourceNames=cloud-credential-operator,verbs=get;list;watch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=cloud-credential-operator-leader,verbs=get;list;watch

// Name is the controller's.
const Name = "credentials"

// atOnce is how many requests are looked at at the same time.
const atOnce = 8

// Options are what the controller is made of.
type Options struct {
	Settings core.Settings
	// Operator is who the controller is in AWS.
	Operator identity.Identity
	AWS      AWS
	Platform Platform
	// PlatformNews wakes the requests that who names when the platform becomes another; nil
	// is nothing.
	PlatformNews func(who func(context.Context) []reconcile.Request) source.TypedSource[reconcile.Request]
	// Writes is how many changes a second are made in AWS; 0 is ten.
	Writes float64
	// LookWithin is how long it takes to look at each Secret that requests name and that the
	// controller may not follow; 0 is five minutes.
	LookWithin time.Duration
	// ReadForeign has the roles that requests name read, to tell what they lack.
	ReadForeign bool
	// Own say which roles Tabard's programs have: no request may reach them.
	Own OwnConfigs
	// Now is the clock, read once a pass; nil is the real one.
	Now func() time.Time
}

// Platform says what the cluster is.
type Platform interface {
	Facts(ctx context.Context) (platform.Facts, error)
}

// Controller reconciles CredentialsRequests.
type Controller struct {
	options Options
	kit     controller.Kit
	// requests is the kit for requests, whose status counts for nothing.
	requests controller.Kit
	known    *known
	roles    *inventory
	minter   *minter
	metrics  *Metrics
	told     told
	// resynced are the latest requests for a look that were followed, by grant.
	resynced  sync.Map
	providers *providers
	policies  *policies
	own       *ownRoles
	foreign   *foreignRoles
	turns     *turns
	changes   *changes
}

// New makes a controller. Live reads the served cluster past any cache, and clients make
// it follow what wakes it.
func New(kit controller.Kit, follow Followed, metrics *Metrics, options Options) *Controller {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Writes <= 0 {
		options.Writes = defaultWrites
	}
	kit.Finalizer = core.Finalizer
	kit.Events = onRequest{kit.Events}
	requests := kit
	requests.IgnoreStatus = true
	limiter := rate.NewLimiter(rate.Limit(options.Writes), int(max(1, options.Writes)))
	c := &Controller{
		options: options, kit: kit, requests: requests, metrics: metrics,
		turns: newTurns(atOnce), changes: &changes{limiter: limiter},
	}
	c.minter, c.providers = &minter{options: options}, &providers{options: options, known: map[string]answer{}}
	c.foreign = &foreignRoles{options: options, known: map[string]foreignRole{}}
	c.own = &ownRoles{configs: options.Own, now: options.Now}
	c.roles = newInventory(options, limiter)
	c.known = newKnown(follow, metrics)
	c.known.issuerChanged = c.providers.forget
	c.known.secrets.within = cmp.Or(options.LookWithin, lookWithin)
	c.policies = &policies{options: options, known: map[string]readPolicy{}, changed: c.known.addAll}
	return c
}

// defaultWrites is how many changes a second are made in AWS.
const defaultWrites = 10

// Add registers a controller with a manager.
func Add(mgr ctrl.Manager, options Options) error {
	follow, err := FollowedBy(mgr.GetConfig())
	if err != nil {
		return err
	}
	c := New(controller.NewKit(mgr, Name, core.Finalizer), follow, sharedMetrics(), options)
	if err := c.Register(mgr); err != nil {
		return err
	}
	return c.addBoundaries(mgr)
}

// Register makes the manager run the controller.
func (c *Controller) Register(mgr ctrl.Manager) error {
	passes := controller.Measured(c.kit.Metrics, c)
	run, err := ctrlcontroller.New(Name, mgr, ctrlcontroller.Options{
		MaxConcurrentReconciles: atOnce, Reconciler: passes, RateLimiter: passes,
	})
	if err != nil {
		return err
	}
	sources := []source.TypedSource[reconcile.Request]{source.Func(c.known.start), source.Func(c.roles.start(c.known.ofRoles)), source.Func(c.followUsage)}
	if c.options.PlatformNews != nil {
		sources = append(sources, c.options.PlatformNews(c.known.all))
	}
	for _, each := range sources {
		if err := run.Watch(each); err != nil {
			return err
		}
	}
	return nil
}

// Follow follows the cluster until the context ends, hands the requests that a change
// concerns to wake, and reads all roles once. It is what Register has the manager do, for
// whoever has a queue of another kind.
func (c *Controller) Follow(ctx context.Context, wake func(reconcile.Request)) error {
	c.known.run(ctx, wake)
	_, err := c.ReadRoles(ctx)
	return err
}

// ReadRoles reads all roles, and returns the requests of those that are not what was
// known of them.
func (c *Controller) ReadRoles(ctx context.Context) ([]reconcile.Request, error) {
	changed, err := c.roles.readAll(ctx)
	return c.known.ofRoles(changed), err
}

// Reconcile is one pass over one request: observe, decide, perform, report; and another one after
// steps were made. One whose turn has not come is woken when it has.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := c.known.wait(ctx, c.roles); err != nil {
		return reconcile.Result{}, err
	}
	if !c.turns.enter(request) {
		return reconcile.Result{}, nil
	}
	defer c.leave(request)
	result, made, err := c.pass(ctx, request)
	if made {
		// What was made is confirmed at once, without a call of AWS: behind many requests that
		// come at the same time, the next pass would be late.
		result, _, err = c.pass(ctx, request)
	}
	return result, err
}

// pass looks at a request once. made says that all steps were made, and that it is known what
// came of them.
func (c *Controller) pass(ctx context.Context, request reconcile.Request) (result reconcile.Result, made bool, err error) {
	world, seen, err := c.observe(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, false, err
	}
	plan := c.decide(ctx, &world)
	pass := c.begin(request, world, &plan, seen)
	outcome := pass.perform(ctx)
	result, err = pass.finish(ctx, outcome)
	return result, err == nil && pass.isKnown(), err
}

func (c *Controller) leave(request reconcile.Request) {
	if next, is := c.turns.leave(request); is {
		c.known.add(next.NamespacedName)
	}
}

// decide looks at the role by itself if the decision asks for that.
func (c *Controller) decide(ctx context.Context, world *core.World) core.Plan {
	plan := core.Decide(*world)
	if !plan.LookLive {
		return plan
	}
	world.Role = c.roles.look(ctx, core.RoleNameOf(*world))
	return core.Decide(*world)
}
