package hubaccess

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// pass is one pass after its decision.
type pass struct {
	*Controller
	world core.World
	plan  *core.Plan
	key   reconcile.Request
	// made is the unique ID of the role that was made in the pass.
	made string
}

// perform makes the steps. The time of the next look is the decision's, also after a step
// that failed.
func (p *pass) perform(ctx context.Context) controller.Outcome {
	return controller.Perform(ctx, p.kit.Metrics, controller.Work[core.Step]{
		Steps: p.plan.Steps, Again: p.plan.Again,
		Do: p.do,
		Tell: func(step core.Step, f fault.Fault) time.Duration {
			*p.plan = core.Failed(*p.plan, step, f, p.world)
			return p.plan.Again
		},
	})
}

func (p *pass) do(ctx context.Context, step core.Step) error {
	switch s := step.(type) {
	case core.Hold:
		return p.patchCluster(ctx, s.UID, controllerutil.AddFinalizer)
	case core.Release:
		return p.patchCluster(ctx, s.UID, controllerutil.RemoveFinalizer)
	case core.MakeRecord:
		record := &v1alpha1.HubAccess{Spec: v1alpha1.HubAccessSpec{ClusterUID: s.UID, AcceptedAnnotations: s.AcceptedAnnotations, Access: s.Access}}
		record.Name, record.Finalizers = s.Name, []string{core.Finalizer}
		return p.kit.Client.Create(ctx, record, client.FieldOwner(p.kit.Owner))
	case core.CompleteRecord:
		return p.completeRecord(ctx, s)
	case core.DeleteRecord:
		return p.deleteRecord(ctx)
	}
	return p.change(ctx, p.world.Setting, step, &p.made)
}

// patchCluster changes the finalizers of the ManagedCluster of a UID, and nothing else.
// One that is gone, or is another one, needs no change.
func (p *pass) patchCluster(ctx context.Context, uid types.UID, change func(client.Object, string) bool) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current := &metav1.PartialObjectMetadata{}
		current.SetGroupVersionKind(clusterKind)
		there, err := isThere(p.kit.Live.Get(ctx, client.ObjectKey{Name: p.world.Name}, current))
		if err != nil || !there || current.UID != uid {
			return err
		}
		wanted := current.DeepCopy()
		if !change(wanted, core.Finalizer) {
			return nil
		}
		lock := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
		return client.IgnoreNotFound(p.kit.Client.Patch(ctx, wanted, lock, client.FieldOwner(p.kit.Owner)))
	})
}

// completeRecord writes into the record what it lacks, if it is the one that was seen.
func (p *pass) completeRecord(ctx context.Context, s core.CompleteRecord) error {
	wanted := p.world.Record.DeepCopy()
	wanted.Spec.AcceptedAnnotations, wanted.Spec.Access = s.AcceptedAnnotations, s.Access
	lock := client.MergeFromWithOptions(p.world.Record, client.MergeFromWithOptimisticLock{})
	if err := p.kit.Client.Patch(ctx, wanted, lock, client.FieldOwner(p.kit.Owner)); err != nil {
		return err
	}
	p.world.Record = wanted
	return nil
}

// deleteRecord lets the record go, and no later one of its name.
func (p *pass) deleteRecord(ctx context.Context) error {
	record := p.world.Record
	if err := controller.Keep(p.kit, record).Release(ctx); err != nil {
		return client.IgnoreNotFound(err)
	}
	err := p.kit.Client.Delete(ctx, record, client.Preconditions{UID: &record.UID})
	if apierrors.IsConflict(err) {
		return nil // it is another one: its finalizer was the last
	}
	return client.IgnoreNotFound(err)
}

// finish writes what was found, and says when to look next.
func (p *pass) finish(ctx context.Context, outcome controller.Outcome) (reconcile.Result, error) {
	p.tell()
	if p.world.Record == nil {
		if p.world.Cluster == nil {
			p.looks.forget(p.key.Name)
			p.kit.Metrics.Forget(p.key)
		}
		return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
	}
	return controller.Keep(p.kit, p.world.Record).Finish(ctx, func(h *v1alpha1.HubAccess) { h.Status = p.plan.Status }, outcome)
}

// settingLook is how often it is looked whether the setting has changed.
const settingLook = 10 * time.Second
