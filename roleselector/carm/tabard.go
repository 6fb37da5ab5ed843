package carm

import "github.com/tabard-dev/tabard/roleselector"

// Tabard is how controllers read selectors that decide by the library
// roleselector with its defaults, and in whose namespaces nobody has chosen.
func Tabard(selectors []Selector) Decide {
	compiled := make([]*roleselector.Selector, 0, len(selectors))
	for i := range selectors {
		compiled = append(compiled, roleselector.Compile(&selectors[i]))
	}
	index := roleselector.NewIndex(roleselector.Options{})
	index.Replace(compiled)
	index.MarkSynced(roleselector.Everything)
	return func(o Object) Verdict {
		decision := index.Decide(roleselector.Query{
			Namespace: o.Namespace, NamespaceLabels: o.NamespaceLabels, NamespaceKnown: true,
			Group: o.Kind.Group, Version: o.Kind.Version, Kind: o.Kind.Kind, Labels: o.Labels,
		})
		return Verdict{Outcome: outcomes[decision.Outcome], Role: decision.Selector.ARN, Selectors: decision.Names()}
	}
}

// outcomes are the library's in the words of a proof. NotYetKnown cannot be: all
// is known here.
var outcomes = map[roleselector.Outcome]Outcome{
	roleselector.Use: Role, roleselector.NoSelector: Default, roleselector.Conflict: Conflict,
	roleselector.Denied: Denied, roleselector.Invalid: Invalid, roleselector.NotYetKnown: Invalid,
}
