package permission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
)

// Policies are the permission policies of one role.
type Policies struct {
	// Documents are in JSON, indented, and none where nothing is asked of AWS.
	Documents []string
	// Note says what to do with several; empty for one.
	Note string
}

// Policy is the policy of one role with which all requests to AWS are served: statements are
// merged where they differ in actions or resources only, and sorted. What is too long for a role's
// inline policies is split into managed policies.
func (s Set) Policy() Policies {
	all := merged(s.Atoms())
	if len(all) == 0 {
		return Policies{}
	}
	one := iampolicy.Document(all).String()
	inline := room(iampolicy.RoleInlineQuota, one)
	if inline.Left >= 0 {
		return Policies{Documents: []string{one}}
	}
	out := split(all)
	return Policies{out, fmt.Sprintf("The permissions are longer than the %d characters that AWS takes as inline policies of a role. They are split into %d policies of at most %d characters: make a managed policy of each, and attach all of them to the role.", inline.Limit, len(out), room(iampolicy.ManagedQuota, one).Limit)}
}

// room is what a document leaves of a quota.
func room(quota iampolicy.Quota, document string) iampolicy.Room {
	out, err := iampolicy.RoomIn(quota, []byte(document))
	if err != nil {
		panic("permission: " + err.Error())
	}
	return out
}

// split is the statements in documents that are each short enough for a managed policy. One that
// is too long by itself becomes several.
func split(all []iampolicy.Statement) []string {
	var out []string
	var page iampolicy.Document
	for len(all) > 0 {
		next := append(slices.Clone(page), all[0])
		switch first := all[0]; {
		case room(iampolicy.ManagedQuota, next.String()).Left >= 0:
			page, all = next, all[1:]
		case len(page) > 0:
			out, page = append(out, page.String()), nil
		case len(first.Actions) > 1:
			a, b := first, first
			half := len(first.Actions) / 2
			a.Actions, b.Actions = first.Actions[:half], first.Actions[half:]
			all = append([]iampolicy.Statement{a, b}, all[1:]...)
		case len(first.Resources) > 1:
			a, b := first, first
			half := len(first.Resources) / 2
			a.Resources, b.Resources = first.Resources[:half], first.Resources[half:]
			all = append([]iampolicy.Statement{a, b}, all[1:]...)
		default: // one action, one resource and one condition, which reading keeps shorter
			page, all = next, all[1:]
		}
	}
	return append(out, page.String())
}

// merged are the statements of the atoms of AWS: those of one effect and condition are joined by
// their resource, and then by their actions.
func merged(atoms []Atom) []iampolicy.Statement {
	type about struct {
		effect    string
		condition Condition
		key       string
	}
	spelt := map[string]string{}           // actions without case, as they are written first
	actions := map[about]map[string]bool{} // by resource, then by the action without case
	for _, a := range atoms {
		if a.Cloud != AWS {
			continue
		}
		at := about{a.Effect, a.Condition, a.Resource}
		if actions[at] == nil {
			actions[at] = map[string]bool{}
		}
		name := strings.ToLower(a.Action)
		actions[at][name] = true
		spelt[name] = cmp.Or(spelt[name], a.Action)
	}
	resources := map[about][]string{} // by the actions
	names := map[about][]string{}
	for at, byName := range actions {
		lower := slices.Sorted(maps.Keys(byName))
		key := about{at.effect, at.condition, encoded(lower)}
		resources[key] = append(resources[key], at.key)
		names[key] = nil
		for _, name := range lower {
			names[key] = append(names[key], spelt[name])
		}
	}
	keys := slices.SortedFunc(maps.Keys(resources), func(a, b about) int {
		return cmp.Or(cmp.Compare(a.effect, b.effect), cmp.Compare(a.key, b.key), cmp.Compare(a.condition, b.condition))
	})
	var out []iampolicy.Statement
	for _, key := range keys {
		slices.Sort(resources[key])
		out = append(out, iampolicy.Statement{
			Deny: key.effect == "Deny", Actions: names[key], Resources: resources[key], Conditions: key.condition.Tests(),
		})
	}
	return out
}
