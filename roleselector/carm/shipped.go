package carm

import (
	"slices"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Shipped is how ACK's controllers read selectors today, holes included: fields
// that they do not know are as if they were not there, a selector that they
// cannot read is as if it were not there, no match is the identity that the
// controller runs as, and more than one is a conflict even with the same role.
func Shipped(selectors []v1alpha1.IAMRoleSelector) Decide {
	index := shippedIndex{byName: map[string][]*v1alpha1.IAMRoleSelector{}, byLabel: map[pair][]*v1alpha1.IAMRoleSelector{}}
	for i := range selectors {
		if shippedValid(selectors[i].Spec) {
			index.add(&selectors[i])
		}
	}
	return index.decide
}

// pair is a label.
type pair struct{ key, value string }

// shippedIndex finds the selectors that may match a namespace: each stands in one
// place, by its names, else by one of its labels, else among those of any.
type shippedIndex struct {
	byName  map[string][]*v1alpha1.IAMRoleSelector
	byLabel map[pair][]*v1alpha1.IAMRoleSelector
	any     []*v1alpha1.IAMRoleSelector
}

func (x *shippedIndex) add(s *v1alpha1.IAMRoleSelector) {
	names := namesOf(s)
	for _, name := range names {
		x.byName[name] = append(x.byName[name], s)
	}
	if len(names) > 0 {
		return
	}
	if n := s.Spec.NamespaceSelector; n != nil && n.LabelSelector != nil {
		for key, value := range n.LabelSelector.MatchLabels {
			x.byLabel[pair{key, value}] = append(x.byLabel[pair{key, value}], s)
			return
		}
	}
	x.any = append(x.any, s)
}

func (x *shippedIndex) decide(o Object) Verdict {
	verdict := Verdict{Outcome: Default}
	consider := func(candidates []*v1alpha1.IAMRoleSelector) {
		for _, s := range candidates {
			if shippedMatches(s.Spec, o) {
				verdict.Outcome, verdict.Role = Role, s.Spec.ARN
				verdict.Selectors = append(verdict.Selectors, s.Name)
			}
		}
	}
	consider(x.byName[o.Namespace])
	consider(x.any)
	for key, value := range o.NamespaceLabels {
		consider(x.byLabel[pair{key, value}])
	}
	if len(verdict.Selectors) > 1 {
		slices.Sort(verdict.Selectors)
		verdict.Outcome, verdict.Role = Conflict, ""
	}
	return verdict
}

// shippedMatches knows the fields of ACK's own API only; the names are compared
// by the index.
func shippedMatches(spec *v1alpha1.IAMRoleSelectorSpec, o Object) bool {
	if spec.NamespaceSelector != nil && !shippedLabels(spec.NamespaceSelector.LabelSelector, o.NamespaceLabels) {
		return false
	}
	if !shippedLabels(spec.ResourceLabelSelector, o.Labels) {
		return false
	}
	return len(spec.ResourceTypeSelector) == 0 || slices.ContainsFunc(spec.ResourceTypeSelector, func(t v1alpha1.ResourceType) bool {
		return (t.Group == "" || t.Group == o.Kind.Group) &&
			(t.Version == "" || t.Version == o.Kind.Version) &&
			(t.Kind == "" || t.Kind == o.Kind.Kind)
	})
}

func shippedLabels(selector *v1alpha1.LabelSelector, labels map[string]string) bool {
	if selector == nil {
		return true
	}
	for key, value := range selector.MatchLabels {
		if got, there := labels[key]; !there || got != value {
			return false
		}
	}
	return true
}

// shippedValid says whether ACK keeps a selector at all.
func shippedValid(spec *v1alpha1.IAMRoleSelectorSpec) bool {
	if spec == nil {
		return false
	}
	if _, ok := identity.ParseARN(spec.ARN); !ok {
		return false
	}
	if n := spec.NamespaceSelector; n != nil && (repeated(n.Names) || emptyKey(n.LabelSelector)) {
		return false
	}
	types := make([]string, 0, len(spec.ResourceTypeSelector))
	for _, t := range spec.ResourceTypeSelector {
		if t.Group == "" && t.Version == "" && t.Kind == "" {
			return false
		}
		types = append(types, t.Group+"/"+t.Version+"/"+t.Kind)
	}
	return !repeated(types) && !emptyKey(spec.ResourceLabelSelector)
}

// repeated says whether a text is empty or given twice.
func repeated(texts []string) bool {
	seen := map[string]bool{"": true}
	for _, text := range texts {
		if seen[text] {
			return true
		}
		seen[text] = true
	}
	return false
}

func emptyKey(selector *v1alpha1.LabelSelector) bool {
	if selector == nil {
		return false
	}
	_, empty := selector.MatchLabels[""]
	return empty
}

// namesOf are the names of namespaces that a selector lists.
func namesOf(s *v1alpha1.IAMRoleSelector) []string {
	if s.Spec == nil || s.Spec.NamespaceSelector == nil {
		return nil
	}
	return s.Spec.NamespaceSelector.Names
}
