package issuer

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// keeper keeps an OIDCIssuer in the cluster.
type keeper = controller.Keeper[*v1alpha1.OIDCIssuer]

// set is the change of an object to a status.
func set(status v1alpha1.OIDCIssuerStatus) func(*v1alpha1.OIDCIssuer) {
	return func(o *v1alpha1.OIDCIssuer) { o.Status = status }
}

// perform makes the steps of a plan. A fault becomes a condition of its status.
func (c *Controller) perform(ctx context.Context, keeper *keeper, world core.World, plan *core.Plan) controller.Outcome {
	return controller.Perform(ctx, c.Kit.Metrics, controller.Work[core.Step]{
		Steps: plan.Steps, Again: plan.Again,
		Do: func(ctx context.Context, step core.Step) error { return c.do(ctx, keeper, world, *plan, step) },
		Tell: func(step core.Step, f fault.Fault) time.Duration {
			if plan.Status = core.Failed(*plan, step, f, world); f.Passing() {
				return plan.Again
			}
			c.trust.Refuse(world)
			return core.LookAgain
		},
	})
}

// do makes one step true: those about the object itself here, the others in AWS.
func (c *Controller) do(ctx context.Context, keeper *keeper, world core.World, plan core.Plan, step core.Step) error {
	switch step.(type) {
	case core.HoldFinalizer:
		return keeper.Hold(ctx)
	case core.Record:
		err := keeper.Record(ctx, set(plan.Status))
		if err == nil {
			return nil
		}
		if unpublished := c.publishUnrecorded(ctx, world, plan, step); unpublished != nil {
			return fmt.Errorf("%w, and: %v", err, unpublished) //nolint:errorlint // the first decides what comes next
		}
		return err
	case core.ReleaseFinalizer:
		return keeper.Release(ctx)
	case core.PutDocument:
		if err := c.current(ctx, world.Issuer); err != nil {
			return err
		}
	}
	return c.Observer.AWS.Perform(ctx, step)
}

// publishUnrecorded takes the steps that a Record that failed must not hold up.
func (c *Controller) publishUnrecorded(ctx context.Context, world core.World, plan core.Plan, failed core.Step) error {
	for _, step := range plan.Unrecorded(failed) {
		if c.current(ctx, world.Issuer) != nil {
			return nil // the next pass knows the new spec
		}
		err := c.Observer.AWS.Perform(ctx, step)
		if c.Kit.Metrics.Made(step, err); err != nil {
			return err
		}
	}
	return nil
}

// current is a conflict unless the spec is still the one that was decided on. It is read
// after the documents were: whoever took a revoked key out of them has read a newer spec,
// and either it is seen here, or the write is refused because the documents have changed.
func (c *Controller) current(ctx context.Context, decided *v1alpha1.OIDCIssuer) error {
	var now v1alpha1.OIDCIssuer
	err := c.Kit.Live.Get(ctx, client.ObjectKeyFromObject(decided), &now)
	if err == nil && now.UID == decided.UID && now.Generation == decided.Generation {
		return nil
	}
	return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("oidcissuers").GroupResource(), decided.Name,
		errors.New("its spec has changed since it was decided on"))
}
