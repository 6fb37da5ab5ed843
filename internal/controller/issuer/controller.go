// Package issuer runs the OIDCIssuer controller: it observes what a cluster
// signs its tokens with, what is published and what is registered, lets
// core/issuer decide, and performs the steps. It is woken by changes of any
// OIDCIssuer (one may make way for another) and looks again by itself every 30
// seconds, since neither keys nor documents announce their changes.
package issuer

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// +kubebuilder:rbac:groups=identity.tabard.dev,resources=oidcissuers,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=oidcissuers/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list,namespace=default
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create,resourceNames=tabard-issuer,namespace=tabard-system
// +kubebuilder:rbac:urls=/openid/v1/jwks,verbs=get

// Controller reconciles OIDCIssuers.
type Controller struct {
	Kit controller.Kit
	// Observer reads the world.
	Observer *Observer

	// trust spares looks at all roles. Passes are made one after the other, as is usual.
	trust core.Trust
}

// Add registers the controller with a manager.
func (c *Controller) Add(mgr ctrl.Manager) error {
	// An annotation is how a person asks for a look now.
	changed := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))
	build := ctrl.NewControllerManagedBy(mgr).
		Named("issuer").
		For(&v1alpha1.OIDCIssuer{}, changed).
		Watches(&v1alpha1.OIDCIssuer{}, handler.EnqueueRequestsFromMapFunc(c.others), builder.WithPredicates(
			predicate.Funcs{ // a rival's end is what wakes one that was refused
				CreateFunc: func(event.CreateEvent) bool { return false },
				UpdateFunc: func(event.UpdateEvent) bool { return false },
			}))
	return controller.Run(build, c.passes())
}

// passes are made again after at most core.LookAgain if they fail. Whatever fails may keep
// a key from being published, and clouds refuse every token that is signed with it; and an
// issuer that is as wanted is looked at as often, so that one that fails asks AWS for no
// more.
func (c *Controller) passes() *controller.Paced[reconcile.Request] {
	kit := c.Kit
	kit.Longest = core.LookAgain
	return controller.Typed(kit, c)
}

func (c *Controller) others(ctx context.Context, gone client.Object) []reconcile.Request {
	var list v1alpha1.OIDCIssuerList
	if err := c.Kit.Client.List(ctx, &list); err != nil {
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
func (c *Controller) Reconcile(ctx context.Context, issuer *v1alpha1.OIDCIssuer) (reconcile.Result, error) {
	rivals, err := c.rivals(ctx, issuer)
	if err != nil {
		return reconcile.Result{}, err
	}
	world := c.Observer.Observe(ctx, issuer, rivals)
	plan := c.decide(ctx, world)
	keeper := controller.Keep(c.Kit, issuer)
	outcome := c.perform(ctx, keeper, world, &plan)
	return keeper.Finish(ctx, set(plan.Status), outcome)
}

// decide looks at the roles that trust the issuer unless an earlier look has seen that
// there is nothing to do. Each step is decided on by a look of its own pass.
func (c *Controller) decide(ctx context.Context, world core.World) core.Plan {
	if plan, ok := c.trust.Decide(world); ok {
		return plan
	}
	c.Observer.ObserveTrust(ctx, world)
	c.trust.Remember(world)
	return core.Decide(world)
}

// rivals are all issuers but the one, read past the cache. One that goes and leaves what
// it made in AWS is in nobody's way, and need not know them.
func (c *Controller) rivals(ctx context.Context, issuer *v1alpha1.OIDCIssuer) ([]v1alpha1.OIDCIssuer, error) {
	if !issuer.DeletionTimestamp.IsZero() && issuer.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete {
		return nil, nil
	}
	var list v1alpha1.OIDCIssuerList
	err := c.Kit.Live.List(ctx, &list)
	return slices.DeleteFunc(list.Items, func(o v1alpha1.OIDCIssuer) bool { return o.Name == issuer.Name }), err
}
