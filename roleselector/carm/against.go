package carm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// Selector is short for the kind.
type Selector = v1alpha1.IAMRoleSelector

// Merge is what a cluster has after the selectors of a migration were applied:
// those of the same name are replaced.
func Merge(existing, emitted []Selector) []Selector {
	names := map[string]bool{}
	for i := range emitted {
		names[emitted[i].Name] = true
	}
	merged := slices.Clone(emitted)
	for i := range existing {
		if !names[existing[i].Name] {
			merged = append(merged, existing[i])
		}
	}
	slices.SortFunc(merged, func(a, b Selector) int { return strings.Compare(a.Name, b.Name) })
	return merged
}

// compare finds what the emitted selectors meet in the cluster: other selectors,
// and resources that are in an account already.
func (m *migrator) compare(emitted []Selector, labels map[string]map[string]string) {
	after := m.labelled(labels)
	decide, own := m.options.semantics()(Merge(m.cluster.Selectors, emitted)), m.options.semantics()(emitted)
	for e := range after.resources() {
		r, v := m.carm(e), decide(e.object())
		switch {
		case m.fromStatus(e) && !same(r, v):
			m.findings.add(found(StatusOnly, Refused,
				fmt.Sprintf("resources are in account %s by their status alone", e.resource.OwnerAccount), e.controller.Name+": "+e.resource.String()))
		case moved(e, v):
			m.findings.add(found(Drift, Refused,
				fmt.Sprintf("resources are in account %s and get %s", e.resource.OwnerAccount, v.Answer()), e.controller.Name+": "+e.resource.String()))
		}
	}
	for i := range m.cluster.Selectors {
		m.overlap(after, &m.cluster.Selectors[i], emitted, own)
	}
}

// labelled is the world with the labels of the label mode.
func (m *migrator) labelled(labels map[string]map[string]string) *world {
	after := &world{cluster: m.cluster, controllers: m.controllers, namespaces: map[string]Namespace{}}
	after.cluster.Namespaces = slices.Clone(m.cluster.Namespaces)
	for i := range after.cluster.Namespaces {
		n := &after.cluster.Namespaces[i]
		if len(labels[n.Name]) > 0 {
			all := maps.Clone(n.Labels)
			if all == nil {
				all = map[string]string{}
			}
			maps.Copy(all, labels[n.Name])
			n.Labels = all
		}
		after.namespaces[n.Name] = *n
	}
	return after
}

// fromStatus says whether CARM takes the account of a resource from its status.
func (m *migrator) fromStatus(e element) bool {
	team, owner := e.controller.ids(e.namespace)
	account := e.ownerAccount()
	return team == "" && owner == "" && account != "" && account != e.controller.Account && !e.controller.DisableCARM
}

// overlap finds where a selector that the cluster has already meets emitted ones,
// or acts where CARM gives something else.
func (m *migrator) overlap(after *world, s *Selector, emitted []Selector, own Decide) {
	for i := range emitted {
		if emitted[i].Name != s.Name {
			continue
		}
		if !ours(s) && !equality.Semantic.DeepEqual(s.Spec, emitted[i].Spec) {
			m.findings.add(found(OtherSelectors, Refused, fmt.Sprintf("%s has the name that a selector of the migration gets", s.Name), s.Name).
				instead("Give it another name."))
		}
		return
	}
	single := m.options.semantics()([]Selector{*s})
	meet := func(e element, o Object, hypothetical bool) {
		v := single(o)
		if v.Outcome == Default {
			return
		}
		mine, where := own(o), e.controller.Name+": "+e.namespace.Name
		switch {
		case mine.Outcome != Default:
			m.meets(s, fmt.Sprintf("%s and %v both match", s.Name, mine.Selectors), where)
		case !hypothetical && !same(m.carm(e), v):
			m.meets(s, fmt.Sprintf("%s gives %s where CARM gives %s", s.Name, v.Answer(), m.carm(e).Answer()), where)
		}
	}
	for e := range after.kinds(append([]Selector{*s}, emitted...)) {
		o := e.object()
		if s.Spec != nil {
			o.Labels = satisfying(s.Spec.ResourceLabelSelector)
		}
		meet(e, o, o.Labels != nil)
	}
	for e := range after.resources() {
		meet(e, e.object(), false)
	}
}

// meets records a meeting with another selector, each place once.
func (m *migrator) meets(s *Selector, seen, where string) {
	f := found(OtherSelectors, Refused, seen, where).instead("Narrow or delete the selector " + s.Name + ".")
	if ours(s) {
		f = f.instead("Delete the selector " + s.Name + ": an earlier run made it, and this one does not.")
	}
	for _, known := range m.findings.list {
		if known.Case == f.Case && known.Seen == f.Seen && slices.Contains(known.Objects, where) {
			return
		}
	}
	m.findings.add(f)
}

// ours says whether a migration made a selector.
func ours(s *Selector) bool {
	_, made := s.Annotations[SourcesAnnotation]
	return made && s.Labels[ManagedByLabel] == ManagedBy
}

// same says whether both sides do the same.
func same(r Resolution, v Verdict) bool {
	if r.Outcome == Blocked {
		return v.blocks()
	}
	return !v.blocks() && r.Answer() == v.Answer()
}

// moved says whether a resource is in another account than the one that the
// verdict works in, so that its controller refuses to go on.
func moved(e element, v Verdict) bool {
	owner := e.ownerAccount()
	switch {
	case owner == "":
		return false
	case v.Outcome == Default:
		return owner != e.controller.Account
	default:
		return v.Outcome == Role && owner != accountOf(v.Role)
	}
}
