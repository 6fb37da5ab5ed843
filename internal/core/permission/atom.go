package permission

import (
	"cmp"
	"slices"
	"strings"
)

// AtomKind says what the value of an Atom of Azure or Google Cloud is.
type AtomKind string

// The kinds. Atoms of AWS have KindAction.
const (
	KindAction         AtomKind = "action"
	KindRole           AtomKind = "role"
	KindPermission     AtomKind = "permission"
	KindDataPermission AtomKind = "dataPermission"
)

// Atom is the smallest thing that can be asked for: of AWS an action on a resource, of other
// clouds a role or a permission. Atoms are compared by their canonical form.
type Atom struct {
	// Request is the name of the request that asks for it.
	Request string   `json:"request"`
	Cloud   Cloud    `json:"cloud"`
	Kind    AtomKind `json:"kind"`
	// Effect, Action, Resource and Condition are AWS's.
	Effect    string    `json:"effect,omitempty"`
	Action    string    `json:"action,omitempty"`
	Resource  string    `json:"resource,omitempty"`
	Condition Condition `json:"condition,omitempty"`
	// Value is that of other clouds.
	Value string `json:"value,omitempty"`
}

// canonical is the atom in the form in which atoms of one meaning are equal: actions of AWS and
// values of Azure have no case.
func (a Atom) canonical() Atom {
	a.Action = strings.ToLower(a.Action)
	if a.Cloud == Azure {
		a.Value = strings.ToLower(a.Value)
	}
	return a
}

// compareAtoms orders atoms of canonical form.
func compareAtoms(a, b Atom) int {
	return cmp.Or(
		cmp.Compare(a.Request, b.Request), cmp.Compare(a.Cloud, b.Cloud), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Condition, b.Condition), cmp.Compare(a.Value, b.Value),
	)
}

// Atoms are those of all requests, each once, as they are written, in the order of their canonical
// form.
func (s Set) Atoms() []Atom {
	requests, _ := s.Requests()
	var out []Atom
	for _, r := range requests {
		out = append(out, r.atoms()...)
	}
	compare := func(a, b Atom) int { return compareAtoms(a.canonical(), b.canonical()) }
	slices.SortStableFunc(out, compare)
	return slices.CompactFunc(out, func(a, b Atom) bool { return compare(a, b) == 0 })
}

// atoms are those of one request.
func (r Request) atoms() []Atom {
	var out []Atom
	add := func(kind AtomKind, values []string) {
		for _, value := range values {
			out = append(out, Atom{Request: r.Name, Cloud: r.Cloud(), Kind: kind, Value: value})
		}
	}
	switch {
	case r.AWS != nil:
		for _, s := range r.AWS.Statements {
			for _, action := range s.Actions {
				out = append(out, Atom{
					Request: r.Name, Cloud: AWS, Kind: KindAction,
					Effect: s.Effect, Action: action, Resource: s.Resource, Condition: s.Condition,
				})
			}
		}
	case r.Azure != nil:
		add(KindRole, r.Azure.Roles)
		add(KindPermission, r.Azure.Permissions)
		add(KindDataPermission, r.Azure.DataPermissions)
	case r.GCP != nil:
		add(KindRole, r.GCP.PredefinedRoles)
		add(KindPermission, r.GCP.Permissions)
	}
	return out
}
