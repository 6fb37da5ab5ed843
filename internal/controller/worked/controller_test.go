// Package worked_test is the shell of the worked example of docs/development.md, and its
// fuzz test, in test files, so that it is no part of the program.
package worked_test

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/testkit/worked"
)

// Buckets are S3's, as internal/cloud/bucket offers them.
type Buckets interface {
	Get(context.Context, identity.Identity, cloud.Bucket) (cloud.BucketState, error)
	Create(context.Context, identity.Identity, cloud.Bucket, cloud.Tag) error
	Delete(context.Context, identity.Identity, cloud.Bucket, cloud.Tag) error
}

// Controller keeps a bucket for each object, as somebody in AWS.
type Controller struct {
	Kit     controller.Kit
	Buckets Buckets
	As      identity.Identity
	Now     func() time.Time
}

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, buckets Buckets, as identity.Identity) error {
	c := &Controller{Kit: controller.NewKit(mgr, "mailbox", core.Finalizer), Buckets: buckets, As: as, Now: time.Now}
	build := ctrl.NewControllerManagedBy(mgr).Named("mailbox").
		For(&core.Mailbox{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	return controller.Run(build, controller.Typed(c.Kit, c))
}

// Reconcile is one pass over one object: observe, decide, perform, report.
func (c *Controller) Reconcile(ctx context.Context, mailbox *core.Mailbox) (reconcile.Result, error) {
	owner := cloud.Tag{Key: core.OwnerTag, Value: mailbox.Name}
	seen, err := c.Buckets.Get(ctx, c.As, cloud.Bucket{Name: core.Bucket(mailbox)})
	if err != nil {
		return reconcile.Result{}, err
	}
	ours := owner.Of(seen.Tags)
	world := core.World{Mailbox: mailbox, Ours: ours, Foreign: seen.Exists && !ours, Now: c.Now()}
	plan, keeper := core.Decide(world), controller.Keep(c.Kit, mailbox)
	set := func(m *core.Mailbox) { m.Status = plan.Status }
	outcome := controller.Perform(ctx, c.Kit.Metrics, controller.Work[core.Step]{
		Steps: plan.Steps, Again: plan.Again,
		Do: func(ctx context.Context, step core.Step) error {
			switch step := step.(type) {
			case core.Hold:
				return keeper.Hold(ctx)
			case core.Record:
				return keeper.Record(ctx, set)
			case core.Release:
				return keeper.Release(ctx)
			case core.Make:
				return c.Buckets.Create(ctx, c.As, cloud.Bucket{Name: step.Name}, owner)
			case core.Remove:
				return c.Buckets.Delete(ctx, c.As, cloud.Bucket{Name: step.Name}, owner)
			}
			return controller.UnknownStep(step)
		},
		Tell: func(_ core.Step, f fault.Fault) time.Duration { plan = core.Failed(plan, f, world); return plan.Again },
	})
	return keeper.Finish(ctx, set, outcome)
}
