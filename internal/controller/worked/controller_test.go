package worked_test

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Queues are the cloud's, as an adapter of internal/cloud offers them.
type Queues interface {
	Exists(ctx context.Context, name string) (bool, error)
	Make(ctx context.Context, name string) error
	Remove(ctx context.Context, name string) error
}

// Controller keeps a queue for each object.
type Controller struct {
	Kit    controller.Kit
	Queues Queues
	Now    func() time.Time
}

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, queues Queues) error {
	c := &Controller{Kit: controller.NewKit(mgr, "queue", Finalizer), Queues: queues, Now: time.Now}
	return ctrl.NewControllerManagedBy(mgr).Named("queue").
		For(&Queue{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(controller.Typed(c.Kit, c))
}

// Reconcile is one pass over one object: observe, decide, perform, report.
func (c *Controller) Reconcile(ctx context.Context, queue *Queue) (reconcile.Result, error) {
	world := World{Queue: queue, Now: c.Now()}
	var err error
	if world.Exists, err = c.Queues.Exists(ctx, "tabard-"+queue.Name); err != nil {
		return reconcile.Result{}, err
	}
	plan := Decide(world)
	keeper := controller.Keep(c.Kit, queue)
	set := func(q *Queue) { q.Status = plan.Status }
	outcome := controller.Perform(ctx, c.Kit.Metrics, controller.Work[Step]{
		Steps: plan.Steps, Again: plan.Again, Blocked: lookAgain,
		Do:   func(ctx context.Context, step Step) error { return c.do(ctx, keeper, set, step) },
		Tell: func(_ Step, f fault.Fault) { plan.Status = Failed(plan, f, world) },
	})
	return keeper.Finish(ctx, set, outcome)
}

// do makes one step true.
func (c *Controller) do(ctx context.Context, keeper *controller.Keeper[*Queue], set func(*Queue), step Step) error {
	switch step := step.(type) {
	case Hold:
		return keeper.Hold(ctx)
	case Record:
		return keeper.Record(ctx, set)
	case Release:
		return keeper.Release(ctx)
	case Make:
		return c.Queues.Make(ctx, step.Name)
	case Remove:
		return c.Queues.Remove(ctx, step.Name)
	}
	return controller.UnknownStep(step)
}
