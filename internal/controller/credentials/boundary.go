package credentials

import (
	"context"
	"slices"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// BoundaryName is the name of the controller that judges CredentialsBoundaries.
const BoundaryName = "credentialsboundary"

// Boundaries says of each CredentialsBoundary whether it can be used. It writes nothing
// else.
type Boundaries struct {
	kit controller.Kit
	of  *Controller
}

// NewBoundaries makes it, with the AWS and the settings of a controller.
func NewBoundaries(kit controller.Kit, of *Controller) *Boundaries {
	return &Boundaries{kit: kit, of: of}
}

// addBoundaries has the manager judge each boundary when it changes, when an issuer does,
// and once an hour.
func (c *Controller) addBoundaries(mgr ctrl.Manager) error {
	b := NewBoundaries(controller.NewKit(mgr, BoundaryName, ""), c)
	build := ctrl.NewControllerManagedBy(mgr).Named(BoundaryName).
		For(&v1alpha1.CredentialsBoundary{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.OIDCIssuer{}, handler.EnqueueRequestsFromMapFunc(b.all), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	return controller.Run(build, controller.Typed(b.kit, b))
}

// all are all boundaries.
func (b *Boundaries) all(ctx context.Context, _ client.Object) (out []reconcile.Request) {
	var list v1alpha1.CredentialsBoundaryList
	if err := b.kit.Client.List(ctx, &list); err != nil {
		return nil // the cache is not there any more: the process ends
	}
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}

// Reconcile judges one boundary.
func (b *Boundaries) Reconcile(ctx context.Context, boundary *v1alpha1.CredentialsBoundary) (reconcile.Result, error) {
	var issuers v1alpha1.OIDCIssuerList
	if err := b.kit.Client.List(ctx, &issuers); err != nil {
		return reconcile.Result{}, err
	}
	world := core.BoundaryWorld{Boundary: boundary, Settings: b.of.options.Settings, Now: b.of.options.Now()}
	for i := range issuers.Items {
		world.Buckets = append(world.Buckets, bucketsOf(&issuers.Items[i])...)
	}
	slices.Sort(world.Buckets)
	b.observe(ctx, &world)
	status, again := core.DecideBoundary(world)
	set := func(o *v1alpha1.CredentialsBoundary) { o.Status = status }
	return controller.Keep(b.kit, boundary).Finish(ctx, set, controller.Outcome{Again: again})
}

// observe reads the policy that bounds the boundary's roles.
func (b *Boundaries) observe(ctx context.Context, world *core.BoundaryWorld) {
	arn := core.PermissionsBoundaryOf(world.Boundary, world.Settings)
	if arn == "" {
		return
	}
	_, caller, known := b.of.minter.who(ctx)
	if world.Fault = known; known != nil {
		return
	}
	world.Settings.Partition = identity.PartitionOfARN(caller)
	world.PolicyInAWS = b.of.policies.get(ctx, arn, time.Time{})
}
