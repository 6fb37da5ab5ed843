package roleselector

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// namespaceNameLabel is the label of each namespace whose value is its name
// (Kubernetes: Well-Known Labels, kubernetes.io/metadata.name).
const namespaceNameLabel = "kubernetes.io/metadata.name"

// Overlap says whether a resource can exist that is in conflict because both
// selectors select it. It looks at the selectors alone, not at what exists. There
// is none where both are Selectable, for they are there to be chosen among, nor
// where one denies, for that is what it is made for, nor where one has a label selector
// without terms, which gives its role to nobody. Another part that cannot be evaluated counts
// as if it selected. A selector that names no group applies to the kinds for which
// IsServiceGroup holds; Index.Overlapping goes by the options of an index.
func Overlap(a, b *Selector) bool { return overlap(a, b, IsServiceGroup) }

// Overlapping are the selectors of other names that a selector overlaps with, as
// Overlap says it, sorted by name. It looks at each selector.
func (x *Index) Overlapping(s *Selector) []*Selector {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(x.All(), func(other *Selector) bool {
		return other.reference.Name == s.reference.Name || !overlap(s, other, x.options.CatchAll)
	})
}

func overlap(a, b *Selector, catchAll func(group string) bool) bool {
	if a == nil || b == nil {
		return false
	}
	if a.deny || b.deny || a.namesNothing() || b.namesNothing() || a.selectable && b.selectable {
		return false
	}
	return typesMeet(a.types, b.types, catchAll) && namespacesMeet(a, b) &&
		canHold(slices.Concat(a.resourceTerms, b.resourceTerms))
}

// typesMeet says whether one type can be selected by both of two lists of
// entries, where none is all.
func typesMeet(a, b []resourceType, catchAll func(group string) bool) bool {
	all := []resourceType{{}}
	if len(a) == 0 {
		a = all
	}
	if len(b) == 0 {
		b = all
	}
	for _, one := range a {
		for _, other := range b {
			if one.meets(other, catchAll) {
				return true
			}
		}
	}
	return false
}

// meets says whether one type can be selected by both entries. Where only one
// names the group, the other one applies only to those for catch-alls.
func (t resourceType) meets(other resourceType, catchAll func(group string) bool) bool {
	named := t.group + other.group
	if (t.group == "") != (other.group == "") && !catchAll(named) {
		return false
	}
	return partsMeet(t.group, other.group) && partsMeet(t.version, other.version) && partsMeet(t.kind, other.kind)
}

func partsMeet(a, b string) bool { return a == "" || b == "" || a == b }

// namespacesMeet says whether one namespace can be selected by both.
func namespacesMeet(a, b *Selector) bool {
	terms := slices.Concat(a.namespaceTerms, b.namespaceTerms)
	if !canHold(terms) {
		return false
	}
	if len(a.names)+len(b.names) == 0 {
		return true
	}
	byName := func(t term) bool { return t.key == namespaceNameLabel }
	named := slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return !byName(t) })
	return slices.ContainsFunc(commonNames(a.names, b.names), func(name string) bool {
		isName := term{namespaceNameLabel, []string{name}, in}
		return len(validation.IsDNS1123Label(name)) == 0 && canHold(append(slices.Clip(named), isName))
	})
}

// commonNames are those in both lists, where none is all.
func commonNames(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool {
		_, found := slices.BinarySearch(b, name)
		return !found
	})
}

// canHold says whether an object can have labels for which all terms hold. Labels
// of different keys have nothing to do with each other.
func canHold(terms []term) bool {
	byKey := map[string][]term{}
	for _, t := range terms {
		byKey[t.key] = append(byKey[t.key], t)
	}
	for key, own := range byKey {
		if !canBeAbsent(own) && !canBePresent(key, own) {
			return false
		}
	}
	return true
}

func canBeAbsent(terms []term) bool {
	return !slices.ContainsFunc(terms, func(t term) bool { return t.isPositive() })
}

// canBePresent says whether there is a value for which all terms on one key hold.
// Where none lists values that it may have there is: more values exist than can be
// excluded.
func canBePresent(key string, terms []term) bool {
	if len(validation.IsQualifiedName(key)) > 0 || slices.ContainsFunc(terms, func(t term) bool { return t.operator == doesNotExist }) {
		return false
	}
	listing := slices.IndexFunc(terms, func(t term) bool { return t.operator == in })
	return listing < 0 || slices.ContainsFunc(terms[listing].values, func(value string) bool {
		return len(validation.IsValidLabelValue(value)) == 0 && allHold(terms, map[string]string{key: value})
	})
}
