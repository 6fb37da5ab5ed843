// Package issuer runs the OIDCIssuer controller: it observes what a cluster
// signs its tokens with, what is published and what is registered, lets
// core/issuer decide, and performs the steps. It is woken by changes of any
// OIDCIssuer (one may make way for another) and looks again by itself every 30
// seconds, since neither keys nor documents announce their changes.
package issuer

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// +kubebuilder:rbac:groups=identity.tabard.dev,resources=oidcissuers,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=oidcissuers/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=oidcissuers/finalizers,verbs=update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list,namespace=default
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create,resourceNames=tabard-issuer,namespace=tabard-system
// +kubebuilder:rbac:urls=/openid/v1/jwks;/.well-known/openid-configuration,verbs=get

// retries says when a pass that has failed is made again: after a second, then
// after twice as long each time, never after longer than core.LookAgain. Whatever
// fails may keep a key from being published, and clouds refuse every token that is
// signed with it; and an issuer that is as wanted is looked at as often, so that one
// that fails asks AWS for no more.
func retries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, core.LookAgain)
}

// Controller reconciles OIDCIssuers.
type Controller struct {
	// Client writes; Live reads past the cache, so that no pass works on a
	// status older than what the pass before it has written.
	Client client.Client
	Live   client.Reader
	// Observer reads the world.
	Observer *Observer
	// Report ends a pass.
	Report controller.Reporter
}

// Add registers the controller with a manager.
func (c *Controller) Add(mgr ctrl.Manager) error {
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("issuer").
		For(&v1alpha1.OIDCIssuer{}, changed).
		Watches(&v1alpha1.OIDCIssuer{}, handler.EnqueueRequestsFromMapFunc(c.others), builder.WithPredicates(
			predicate.Funcs{ // a rival's end is what wakes one that was refused
				CreateFunc: func(event.CreateEvent) bool { return false },
				UpdateFunc: func(event.UpdateEvent) bool { return false },
			})).
		WithOptions(ctrlcontroller.Options{RateLimiter: retries()}).
		Complete(reconcile.AsReconciler(mgr.GetClient(), c))
}

func (c *Controller) others(ctx context.Context, gone client.Object) []reconcile.Request {
	var list v1alpha1.OIDCIssuerList
	if err := c.Client.List(ctx, &list); err != nil {
		return nil // each looks again within 30 seconds
	}
	var out []reconcile.Request
	for _, issuer := range list.Items {
		if issuer.Name != gone.GetName() {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: issuer.Name}})
		}
	}
	return out
}

// Reconcile is one pass over one issuer.
func (c *Controller) Reconcile(ctx context.Context, cached *v1alpha1.OIDCIssuer) (reconcile.Result, error) {
	issuer, rivals, err := c.read(ctx, cached.Name)
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	world := c.Observer.Observe(ctx, issuer, rivals)
	plan := core.Decide(world)
	keeper := &objectKeeper{controller: c, stored: issuer.DeepCopy()}
	outcome := c.perform(ctx, keeper, world, &plan)
	return c.Report.Finish(ctx, keeper.stored, keeper.with(plan.Status), outcome)
}

// read fetches all issuers past the cache and picks the one.
func (c *Controller) read(ctx context.Context, name string) (*v1alpha1.OIDCIssuer, []v1alpha1.OIDCIssuer, error) {
	var list v1alpha1.OIDCIssuerList
	if err := c.Live.List(ctx, &list); err != nil {
		return nil, nil, err
	}
	for i, issuer := range list.Items {
		if issuer.Name == name {
			rivals := append(list.Items[:i:i], list.Items[i+1:]...)
			return &issuer, rivals, nil
		}
	}
	return nil, nil, apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("oidcissuers").GroupResource(), name)
}

// perform makes the steps true up to the first that fails. A fault that asks
// for a person becomes a condition; one that may pass is returned too.
func (c *Controller) perform(ctx context.Context, keeper Keeper, world core.World, plan *core.Plan) controller.Outcome {
	for _, step := range plan.Steps {
		if _, writes := step.(core.PutDocument); writes && !c.isCurrent(ctx, world.Issuer) {
			return controller.Outcome{Again: time.Second}
		}
		err := c.Observer.AWS.Perform(ctx, keeper, *plan, step)
		if err == nil {
			continue
		}
		known := faultOf(err)
		if known.Service == "" { // the API server's error, not the cloud's
			return controller.Outcome{Err: errors.Join(err, c.publishUnrecorded(ctx, world, *plan, step))}
		}
		plan.Status = core.Failed(*plan, step, *known, world)
		if known.Passing() {
			return controller.Outcome{Err: err}
		}
		return controller.Outcome{Again: core.LookAgain}
	}
	return controller.Outcome{Again: plan.Again}
}

// publishUnrecorded takes the steps that a Record that failed must not hold up.
func (c *Controller) publishUnrecorded(ctx context.Context, world core.World, plan core.Plan, failed core.Step) error {
	for _, step := range plan.Unrecorded(failed) {
		if !c.isCurrent(ctx, world.Issuer) {
			return nil // the next pass knows the new spec
		}
		if err := c.Observer.AWS.Perform(ctx, nil, plan, step); err != nil {
			return err
		}
	}
	return nil
}

// isCurrent says that the spec is still the one that was decided on. It is read after
// the documents were: whoever took a revoked key out of them has read a newer spec, and
// either it is seen here, or the write is refused because the documents have changed.
func (c *Controller) isCurrent(ctx context.Context, decided *v1alpha1.OIDCIssuer) bool {
	var now v1alpha1.OIDCIssuer
	err := c.Live.Get(ctx, client.ObjectKeyFromObject(decided), &now)
	return err == nil && now.UID == decided.UID && now.Generation == decided.Generation
}

// objectKeeper keeps the finalizer and the status in the cluster.
type objectKeeper struct {
	controller *Controller
	stored     *v1alpha1.OIDCIssuer
}

// with is the stored object with another status.
func (k *objectKeeper) with(status v1alpha1.OIDCIssuerStatus) *v1alpha1.OIDCIssuer {
	wanted := k.stored.DeepCopy()
	wanted.Status = status
	return wanted
}

// Hold adds the finalizer.
func (k *objectKeeper) Hold(ctx context.Context) error {
	return k.patch(ctx, func(o *v1alpha1.OIDCIssuer) { controllerutil.AddFinalizer(o, core.Finalizer) })
}

// Release removes the finalizer.
func (k *objectKeeper) Release(ctx context.Context) error {
	return k.patch(ctx, func(o *v1alpha1.OIDCIssuer) { controllerutil.RemoveFinalizer(o, core.Finalizer) })
}

// Record writes the status now.
func (k *objectKeeper) Record(ctx context.Context, status v1alpha1.OIDCIssuerStatus) error {
	wanted := k.with(status)
	if err := k.controller.Report.Write(ctx, k.stored, wanted); err != nil {
		return err
	}
	k.stored = wanted
	return nil
}

func (k *objectKeeper) patch(ctx context.Context, change func(*v1alpha1.OIDCIssuer)) error {
	return k.controller.Report.WhileUnmoved(ctx, k.stored, func(current controller.Object) error {
		wanted := current.DeepCopyObject().(*v1alpha1.OIDCIssuer)
		change(wanted)
		lock := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
		if err := k.controller.Client.Patch(ctx, wanted, lock); err != nil {
			return err
		}
		k.stored = wanted
		return nil
	})
}
