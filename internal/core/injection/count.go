package injection

import (
	"cmp"
	"slices"
)

const (
	// MaxNamespaces is how many namespaces are counted by themselves.
	MaxNamespaces = 100
	// OtherNamespaces stands for all others. No namespace can have this name.
	OtherNamespaces = "(others)"
)

// Count is the number of pods of each namespace, of those with most by themselves.
func Count(found []*Finding) map[string]int {
	all := map[string]int{}
	for _, each := range found {
		all[each.Pod.Namespace]++
	}
	if len(all) <= MaxNamespaces {
		return all
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) })
	for _, name := range names[MaxNamespaces:] {
		all[OtherNamespaces] += all[name]
		delete(all, name)
	}
	return all
}
