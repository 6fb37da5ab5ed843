package capacity

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// Reconcile is one pass over one object.
func (r *run) Reconcile(ctx context.Context, request Request) (reconcile.Result, error) {
	seen, err := r.observe(ctx, request)
	if apierrors.IsNotFound(err) {
		r.gone(request)
		return reconcile.Result{}, nil
	}
	if err != nil {
		r.metrics.ended(request.Kind, core.Failed)
		return reconcile.Result{}, err
	}
	plan := core.Decide(seen.world)
	err = r.perform(ctx, seen, plan)
	return r.finish(ctx, request, seen, plan, err)
}

// perform writes the steps, each at the version that the one before has left.
func (r *run) perform(ctx context.Context, seen observation, plan core.Plan) error {
	target := &metav1.PartialObjectMetadata{}
	target.SetGroupVersionKind(r.served.of(kindOf(seen.world.Object.Kind)))
	target.Namespace, target.Name = seen.object.Namespace, seen.object.Name
	target.UID, target.ResourceVersion = seen.object.UID, seen.object.ResourceVersion
	for _, step := range plan.Steps {
		err := r.write(ctx, target, step)
		if r.metrics.Made(step, err); err != nil {
			return err
		}
	}
	return nil
}

// write makes one step, and leaves the new version in the target.
func (r *run) write(ctx context.Context, target *metav1.PartialObjectMetadata, step core.Step) error {
	owner := client.FieldOwner(r.options.Decision.Manager)
	switch step := step.(type) {
	case core.Patch:
		return r.send(ctx, target, types.MergePatchType, values(step), owner)
	case core.Apply:
		options := []client.PatchOption{owner}
		if step.Force {
			options = append(options, client.ForceOwnership)
		}
		annotations := map[string]any{}
		for key, value := range step.Annotations {
			annotations[key] = value
		}
		return r.send(ctx, target, types.ApplyPatchType, annotations, options...)
	}
	return controller.UnknownStep(step)
}

// values are the annotations of a merge patch, in which null removes.
func values(step core.Patch) map[string]any {
	out := map[string]any{}
	for key, value := range step.Set {
		out[key] = value
	}
	for _, key := range step.Remove {
		out[key] = nil
	}
	return out
}

// send writes annotations at the version of the target and nowhere else: also an
// apply, which by itself would go over what it has not seen, or make an object
// anew that was just deleted.
func (r *run) send(ctx context.Context, target *metav1.PartialObjectMetadata, how types.PatchType, annotations map[string]any, options ...client.PatchOption) error {
	body := map[string]any{"metadata": map[string]any{
		"uid": target.UID, "resourceVersion": target.ResourceVersion, "annotations": annotations,
	}}
	if how == types.ApplyPatchType {
		body["apiVersion"], body["kind"] = target.APIVersion, target.Kind
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the patch: %w", err)
	}
	return r.writer().Patch(ctx, target, client.RawPatch(how, text), options...)
}

// finish tells how a pass ended. It is the only place that picks a requeue.
func (r *run) finish(ctx context.Context, request Request, seen observation, plan core.Plan, err error) (reconcile.Result, error) {
	switch {
	case apierrors.IsNotFound(err):
		r.gone(request)
		return reconcile.Result{}, nil
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict), err != nil && !apierrors.IsConflict(err):
		r.metrics.ended(request.Kind, core.Failed)
		return reconcile.Result{}, fmt.Errorf("failed to patch %s: %w", request.Kind.Noun(), err)
	case err != nil:
		return reconcile.Result{}, err // somebody wrote in between: it observes again soon, see controller.Paced
	}
	r.metrics.ended(request.Kind, plan.Outcome)
	r.tell(ctx, request, seen, plan)
	return reconcile.Result{RequeueAfter: plan.Again}, nil
}

// tell records events and writes logs, each when it comes up.
func (r *run) tell(ctx context.Context, request Request, seen observation, plan core.Plan) {
	logger := log.FromContext(ctx)
	told := r.memory.keep(request, plan)
	if plan.Skip != "" {
		logger.V(1).Info("left alone", "because", string(plan.Skip))
	}
	if plan.Mismatch != "" && plan.Mismatch != told {
		r.metrics.mismatched(request.Kind)
		logger.Info("the template's status disagrees with AWS", "mismatch", plan.Mismatch)
	}
	for _, line := range plan.Log {
		logger.Info(line)
	}
	for _, event := range plan.Events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		logger.Info(event.Message, "reason", event.Reason)
		r.recorder[request.Kind].Event(r.reference(request, seen), kind, event.Reason, controller.Shorten(event.Message, "the controller's log"))
	}
}

// reference is the object in an event.
func (r *run) reference(request Request, seen observation) *corev1.ObjectReference {
	gvk := r.served.of(kindOf(request.Kind))
	return &corev1.ObjectReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: request.Namespace, Name: request.Name,
		UID: seen.object.UID, ResourceVersion: seen.object.ResourceVersion,
	}
}
