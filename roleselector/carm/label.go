package carm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The labels of the label mode, each a copy of an annotation of the namespace.
const (
	OwnerAccountLabel = "tabard.dev/carm-owner-account-id"
	TeamLabel         = "tabard.dev/carm-team-id"
)

// copied are the labels and what they are copied from.
var copied = []struct{ label, annotation, entries string }{
	{OwnerAccountLabel, OwnerAccountAnnotation, AccountMap},
	{TeamLabel, TeamAnnotation, TeamMap},
}

// teams says whether any controller looks at teams.
func (m *migrator) teams() bool {
	return slices.ContainsFunc(m.controllers, func(c Controller) bool { return c.active() && c.TeamLevelCARM })
}

// refuseLabels reports why labels cannot stand for annotations.
func (m *migrator) refuseLabels(c Case, seen string, objects ...string) {
	m.findings.add(found(c, Refused, "labels are wanted, and "+seen, objects...).instead("Correct that, or go without labels."))
}

// labelsAllowed says whether labels can stand for annotations, and reports why
// they cannot.
func (m *migrator) labelsAllowed() bool {
	for _, n := range m.cluster.Namespaces {
		owner, team := n.Annotations[OwnerAccountAnnotation], n.Annotations[TeamAnnotation]
		if m.teams() && owner != "" && team != "" {
			m.refuseLabels(FutureNamespaces, "namespaces have both a team and an account: selectors by label would both match", n.Name)
		}
		for _, one := range copied {
			id, label := n.Annotations[one.annotation], n.Labels[one.label]
			if problems := validation.IsValidLabelValue(id); len(problems) > 0 {
				m.refuseLabels(FutureNamespaces, fmt.Sprintf("%q cannot be the value of a label", id), n.Name)
			}
			if label != "" && label != id {
				m.refuseLabels(IgnoredNamespace, fmt.Sprintf("namespaces have the label %s with another value than the annotation", one.label), n.Name)
			}
			if id == "" && label == "" {
				continue
			}
			for i := range m.controllers {
				if c := &m.controllers[i]; c.active() && !c.caches(n.Name) {
					m.refuseLabels(IgnoredNamespace, "namespaces that CARM ignores have a key", n.Name)
					break
				}
			}
		}
	}
	for _, one := range copied {
		for _, id := range m.keys(one.annotation, one.entries) {
			if problems := validation.IsValidLabelValue(id); len(problems) > 0 {
				m.refuseLabels(FutureNamespaces, fmt.Sprintf("the key %q cannot be the value of a label", id), one.entries)
			}
		}
	}
	return !m.findings.refused(FutureNamespaces) && !m.findings.refused(IgnoredNamespace)
}

// keys are those that namespaces have, and those of the config maps that hold
// for every service: a namespace to come may have them.
func (m *migrator) keys(annotation, name string) []string {
	ids := map[string]bool{}
	for _, n := range m.cluster.Namespaces {
		ids[n.Annotations[annotation]] = true
	}
	for i := range m.controllers {
		c := &m.controllers[i]
		for key, value := range m.entries(c, name) {
			if value != "" && !m.ofOneService(key) {
				ids[key] = true
			}
		}
	}
	delete(ids, "")
	return slices.Sorted(maps.Keys(ids))
}

// ofOneService says whether a key is one of ServiceLevelCARM.
func (m *migrator) ofOneService(key string) bool {
	return slices.ContainsFunc(m.controllers, func(c Controller) bool {
		return c.ServiceLevelCARM && strings.HasPrefix(key, c.Alias+".")
	})
}

// overridden says whether a config map has an entry of a single service for a
// key, whatever the service.
func (m *migrator) overridden(key string) bool {
	for _, all := range m.cluster.Maps {
		for _, entries := range []map[string]string{all.Accounts, all.Teams} {
			for entry := range entries {
				if strings.HasSuffix(entry, "."+key) {
					return true
				}
			}
		}
	}
	return false
}

// labelCells resolves every controller for every key.
func (m *migrator) labelCells() []cell {
	type square struct {
		place place
		group string
	}
	claims := map[square]target{}
	var cells []cell
	for _, one := range copied {
		for _, id := range m.keys(one.annotation, one.entries) {
			for i := range m.controllers {
				c := &m.controllers[i]
				r := m.byKey(c, one.entries, id)
				t, ok := m.target(c, r)
				if !ok && r.Outcome != Default {
					m.report(c, Namespace{Name: "any with " + one.label + "=" + id}, r, ok)
					continue
				}
				at := square{place{label: one.label, value: id}, c.Group}
				first, there := claims[at]
				if there && first != t {
					m.refuseLabels(FutureNamespaces, fmt.Sprintf("controllers of %s have different roles for the key %q", c.Group, id), c.Name)
				}
				claims[at] = t
				if ok && !there {
					cells = append(cells, cell{t, at.place, c.Group, sourceOf(c, r)})
				}
			}
		}
	}
	return cells
}

// byKey is what a namespace with a key gets. All controllers of a group must say
// the same, whether they look at such keys or not: a label selects for all.
func (m *migrator) byKey(c *Controller, name, key string) Resolution {
	if !c.active() || name == TeamMap && !c.TeamLevelCARM {
		return Resolution{Outcome: Default, Account: c.Account}
	}
	return c.lookup(name, m.entries(c, name), key)
}

// entries are those of a config map of a controller.
func (m *migrator) entries(c *Controller, name string) map[string]string {
	if name == TeamMap {
		return m.cluster.Maps[c.SystemNamespace].Teams
	}
	return m.cluster.Maps[c.SystemNamespace].Accounts
}

// namespaceLabels are the copies of the annotations.
func (m *migrator) namespaceLabels() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, n := range m.cluster.Namespaces {
		for _, one := range copied {
			id := n.Annotations[one.annotation]
			if id == "" || one.label == TeamLabel && !m.teams() {
				continue
			}
			if all[n.Name] == nil {
				all[n.Name] = map[string]string{}
			}
			all[n.Name][one.label] = id
		}
	}
	return all
}
