package controller

import (
	"cmp"
	"context"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Finish writes the status and turns the outcome into a result. It is the only place
// that picks a requeue, beside Paced.
func (k *Keeper[T]) Finish(ctx context.Context, set func(T), outcome Outcome) (reconcile.Result, error) {
	err := k.Record(ctx, set)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil // the finalizer was released in this pass
	}
	if err == nil {
		k.kit.Metrics.Found(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(k.stored)}, k.stored.GetConditions())
	}
	if err != nil && outcome.Err == nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: outcome.Again}, cmp.Or(err, outcome.Err)
}

// announce emits an event for each condition whose status or reason changed, and logs one that
// has turned False: events are kept for an hour.
func (k Kit) announce(ctx context.Context, object Object, before, after []metav1.Condition) {
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
			log.FromContext(ctx).Info("condition is False", "condition", condition.Type, "reason", condition.Reason, "message", condition.Message)
		}
		note := Shorten(condition.Type+": "+condition.Message, "the condition")
		k.Events.Eventf(object, nil, kind, condition.Reason, condition.Type, "%s", note)
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
