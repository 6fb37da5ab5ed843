package credentials

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// choose finds the boundary of the request's namespace: one that names it, else one that
// selects it, else the default, which is for Tabard's own namespaces only. Two that say
// the same of a namespace are none: which one is meant cannot be decided.
func choose(w World) (*v1alpha1.CredentialsBoundary, condition.Verdict) {
	namespace := w.Request.Namespace
	var named, selected, byDefault []*v1alpha1.CredentialsBoundary
	unread := false
	for i := range w.Boundaries {
		b := &w.Boundaries[i]
		switch {
		case b.DeletionTimestamp != nil:
		case b.Name == v1alpha1.DefaultBoundary:
			if isOwn(w, namespace) {
				byDefault = append(byDefault, b)
			}
		case slices.Contains(b.Spec.Namespaces, namespace):
			named = append(named, b)
		case b.Spec.NamespaceSelector == nil:
		case w.NamespaceLabels == nil:
			unread = true
		case selects(b.Spec.NamespaceSelector, w.NamespaceLabels):
			selected = append(selected, b)
		}
	}
	for _, rank := range [][]*v1alpha1.CredentialsBoundary{named, selected, byDefault} {
		switch {
		case len(rank) == 1:
			return rank[0], condition.Yes(ReasonAccepted, "")
		case len(rank) > 1:
			return nil, condition.No(ReasonAmbiguousBoundary, "the namespace %s has %s, expected one: have an administrator leave it in one of them", namespace, namesOf(rank))
		}
	}
	if unread {
		return nil, condition.Unknown(ReasonNoBoundary, "the labels of the namespace %s could not be read, so it is not known which CredentialsBoundary selects it: nothing to do if it passes", namespace)
	}
	return nil, condition.No(ReasonNoBoundary, "no CredentialsBoundary is for the namespace %s, so its requests get nothing: have an administrator make one that names it in spec.namespaces (the one named %s is for Tabard's own namespace)", namespace, v1alpha1.DefaultBoundary)
}

func namesOf(boundaries []*v1alpha1.CredentialsBoundary) string {
	var names []string
	for _, b := range boundaries {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	return fmt.Sprintf("the %d CredentialsBoundaries %s", len(names), strings.Join(names, ", "))
}

// selects says whether a selector with at least one term fits labels.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return false
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(of))
}

func isOwn(w World, namespace string) bool {
	return slices.Contains(w.Settings.OwnNamespaces, namespace)
}
