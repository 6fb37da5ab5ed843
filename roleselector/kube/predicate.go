package kube

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// Predicate passes on the updates that a decision or a reconcile can depend on: a
// new generation, other labels, another choice, and a deletion. Updates of the
// status do not pass.
func (s *Selectors) Predicate() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		if e.ObjectOld == nil || e.ObjectNew == nil {
			return false
		}
		const choice = v1alpha1.ChoiceAnnotation
		return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
			e.ObjectOld.GetUID() != e.ObjectNew.GetUID() ||
			e.ObjectOld.GetAnnotations()[choice] != e.ObjectNew.GetAnnotations()[choice] ||
			e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero() ||
			!maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
	}}
}
