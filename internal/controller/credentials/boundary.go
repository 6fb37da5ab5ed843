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
	"github.com/tabard-dev/tabard/internal/core/issuer"
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
	b.observe(ctx, &world, issuers.Items)
	status, again := core.DecideBoundary(world)
	set := func(o *v1alpha1.CredentialsBoundary) { o.Status = status }
	return controller.Keep(b.kit, boundary).Finish(ctx, set, controller.Outcome{Again: again})
}

// observe reads the policy that bounds the boundary's roles, and says what it has to keep them from.
func (b *Boundaries) observe(ctx context.Context, world *core.BoundaryWorld, issuers []v1alpha1.OIDCIssuer) {
	arn := core.PermissionsBoundaryOf(world.Boundary, world.Settings)
	if arn == "" {
		return
	}
	account, caller, known := b.of.minter.who(ctx)
	if world.Fault = known; known != nil {
		return
	}
	partition := identity.PartitionOfARN(caller)
	world.Settings.Partition = partition
	for i := range issuers {
		world.Protected.Buckets = append(world.Protected.Buckets, bucketsOf(&issuers[i])...)
		world.Protected.Providers = append(world.Protected.Providers, issuer.ProviderARN(partition, account, issuers[i].Spec.URL))
	}
	slices.Sort(world.Protected.Buckets)
	slices.Sort(world.Protected.Providers)
	world.PolicyInAWS = b.of.policies.get(ctx, arn, time.Time{})
}
