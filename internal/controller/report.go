// Package controller holds what all controllers share: how a pass is reported.
// Each controller is a package below this one, named by its noun, and is
// observe, decide, perform, report: the deciding is in internal/core.
package controller

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Object is a kind whose conditions are a keyed list.
type Object interface {
	client.Object
	// GetConditions returns the stored conditions.
	GetConditions() []metav1.Condition
}

// Reporter writes what a pass found. It is the only place that picks a requeue.
type Reporter struct {
	// Status writes the status sub-resource.
	Status client.SubResourceWriter
	// Live reads past any cache.
	Live client.Reader
	// Events records one event for each condition that changed.
	Events events.EventRecorder
}

// Outcome is the end of a pass.
type Outcome struct {
	// Again is when to look next if there is no error.
	Again time.Duration
	// Err is what the machine may recover from by trying again. What a person
	// must mend is a condition, not an error.
	Err error
}

// Write stores the status of wanted if it differs from that of stored, which it
// then updates. A conflict is returned: somebody else wrote what the pass went by,
// so it must observe again.
func (r Reporter) Write(ctx context.Context, stored, wanted Object) error {
	if equality.Semantic.DeepEqual(stored, wanted) {
		return nil
	}
	err := r.WhileUnmoved(ctx, stored, func(current Object) error {
		base := stored.DeepCopyObject().(Object)
		base.SetResourceVersion(current.GetResourceVersion())
		wanted.SetResourceVersion(current.GetResourceVersion())
		return r.Status.Patch(ctx, wanted, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return fmt.Errorf("write status of %s: %w", wanted.GetName(), err)
	}
	r.announce(wanted, stored.GetConditions(), wanted.GetConditions())
	return nil
}

// Finish writes the status and turns the outcome into a result.
func (r Reporter) Finish(ctx context.Context, stored, wanted Object, outcome Outcome) (reconcile.Result, error) {
	err := r.Write(ctx, stored, wanted)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil // the finalizer was released in this pass
	case err != nil:
		return reconcile.Result{}, err
	case apierrors.IsConflict(outcome.Err):
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case outcome.Err != nil:
		return reconcile.Result{}, outcome.Err
	}
	return reconcile.Result{RequeueAfter: outcome.Again}, nil
}

// announce emits an event for each condition whose status or reason changed.
func (r Reporter) announce(object Object, before, after []metav1.Condition) {
	for _, condition := range after {
		old := meta.FindStatusCondition(before, condition.Type)
		if old != nil && old.Status == condition.Status && old.Reason == condition.Reason {
			continue
		}
		if old == nil && condition.Status == metav1.ConditionUnknown {
			continue // nothing has happened yet
		}
		kind := corev1.EventTypeNormal
		if condition.Status == metav1.ConditionFalse {
			kind = corev1.EventTypeWarning
		}
		note := Shorten(condition.Type+": "+condition.Message, "the condition")
		r.Events.Eventf(object, nil, kind, condition.Reason, condition.Type, "%s", note)
	}
}

// maxNote is the API server's limit on an event's note, in bytes.
const maxNote = 1024

// Shorten cuts an event's note that the API server would refuse, between two
// characters, and says where all of it is.
func Shorten(note, where string) string {
	rest := " … (" + where + " says it all)"
	if len(note) <= maxNote {
		return note
	}
	cut := maxNote - len(rest)
	for !utf8.RuneStart(note[cut]) {
		cut--
	}
	return note[:cut] + rest
}
