package carm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Options choose between the ways to say the same with selectors.
type Options struct {
	// Semantics is how the controllers read selectors; nil is Shipped.
	Semantics Semantics
	// Deny says that all controllers know effect: Deny. Otherwise a role that can
	// never be assumed stands where CARM blocks.
	Deny bool
	// WildcardTypes leaves the groups out where every ACK controller of the cluster
	// gets the same role in a namespace.
	WildcardTypes bool
	// LabelMode selects namespaces by labels that are copied from the annotations,
	// so that namespaces to come are selected, too.
	LabelMode bool
	// BlockerAccounts are the accounts that keys without an entry stand for. A key
	// of twelve digits in the account map stands for itself.
	BlockerAccounts map[string]string
}

func (o Options) semantics() Semantics {
	if o.Semantics == nil {
		return Shipped
	}
	return o.Semantics
}

// Migration is what takes the place of CARM.
type Migration struct {
	// Selectors are to be applied, in the order of their names.
	Selectors []Selector
	// NamespaceLabels are those that the label mode needs, by namespace.
	NamespaceLabels map[string]map[string]string
	// Findings are in the order of their cases.
	Findings []Finding
}

// Refused says whether a finding stops the migration. The selectors are not the
// same as CARM then, and must not be applied.
func (m Migration) Refused() bool {
	return slices.ContainsFunc(m.Findings, func(f Finding) bool { return f.Severity == Refused })
}

// Migrate writes the selectors that give what CARM gives, and finds what they
// cannot give. The same input gives the same output. The error says what is
// missing in the input.
func Migrate(cluster Cluster, controllers []Controller, options Options) (Migration, error) {
	w, err := newWorld(cluster, controllers)
	if err != nil {
		return Migration{}, err
	}
	if options.LabelMode && options.WildcardTypes {
		return Migration{}, errors.New("labels and wildcard types cannot be combined")
	}
	m := &migrator{world: w, options: options}
	m.examine()
	cells := m.cells()
	var labels map[string]map[string]string
	if options.LabelMode && m.labelsAllowed() {
		cells, labels = m.labelCells(), m.namespaceLabels()
	}
	if options.WildcardTypes {
		cells = m.widen(cells)
	}
	selectors := build(cells)
	m.compare(selectors, labels)
	m.advise(selectors)
	slices.SortStableFunc(m.findings.list, func(a, b Finding) int {
		return cmp.Compare(slices.Index(Cases(), a.Case), slices.Index(Cases(), b.Case))
	})
	return Migration{Selectors: selectors, NamespaceLabels: labels, Findings: m.findings.list}, nil
}

// migrator holds a run of Migrate.
type migrator struct {
	*world
	options  Options
	findings findings
}

// target is what a selector does with what it matches.
type target struct {
	outcome Outcome
	role    string
}

// place is where a selector holds: a namespace by name, or all with a label.
type place struct{ namespace, label, value string }

// cell says that a target holds in a place for a group of kinds.
type cell struct {
	target target
	place  place
	group  string
	// source is the entry of a config map that says so.
	source string
}

// target is what has to stand for a resolution; ok is false for what selectors
// cannot or need not say.
func (m *migrator) target(c *Controller, r Resolution) (t target, ok bool) {
	switch {
	case r.Outcome == Role:
		return target{Role, r.Role}, true
	case r.Outcome != Blocked:
		return target{r.Outcome, r.Role}, false
	case m.options.Deny:
		return target{Denied, ""}, true
	}
	account := m.options.BlockerAccounts[r.Key]
	if account == "" && r.Map == AccountMap && identity.IsAccountID(r.Key) {
		account = r.Key
	}
	if account == "" {
		return target{Blocked, r.Key}, false
	}
	return target{Role, BlockerARN(partitionOf(m.cluster.Maps[c.SystemNamespace]), account)}, true
}

// cells resolves every controller in every namespace that it reconciles.
func (m *migrator) cells() []cell {
	type square struct{ namespace, group string }
	type claim struct {
		controller string
		target     target
	}
	claims := map[square]claim{}
	var cells []cell
	for c, n := range m.scope() {
		r := m.resolve(c, n, "")
		t, ok := m.target(c, r)
		m.report(c, n, r, ok)
		at := square{n.Name, c.Group}
		if first, there := claims[at]; there {
			if first.target != t {
				m.findings.add(found(DifferentMaps, Refused,
					fmt.Sprintf("the controllers %s and %s both reconcile %s and get different roles", first.controller, c.Name, c.Group), n.Name))
			}
			continue
		}
		claims[at] = claim{c.Name, t}
		if ok {
			cells = append(cells, cell{t, place{namespace: n.Name}, c.Group, sourceOf(c, r)})
		}
	}
	return cells
}

// sourceOf is the entry of a config map that a resolution comes from.
func sourceOf(c *Controller, r Resolution) string {
	return c.SystemNamespace + "/" + r.Map + "/" + cmp.Or(r.Entry, r.Key)
}

// partitionOf is the partition of the roles in config maps, aws if there are none.
func partitionOf(m Maps) string {
	for _, entries := range []map[string]string{m.Accounts, m.Teams} {
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if identity.IsRoleARN(entries[key]) {
				return identity.PartitionOfARN(entries[key])
			}
		}
	}
	return "aws"
}

// widen replaces the groups of a namespace by all types, where that is the same
// for every ACK controller of the cluster.
func (m *migrator) widen(cells []cell) []cell {
	for _, group := range m.otherGroups() {
		m.findings.add(found(FutureControllers, Refused, "wildcard types are wanted, and controllers of other groups are installed", group).
			instead("Describe the controllers of these groups, too, or go without wildcard types."))
	}
	var out []cell
	wide := map[place]bool{}
	for _, one := range cells {
		switch {
		case !m.uniform(one.place.namespace):
			out = append(out, one)
		case !wide[one.place]:
			wide[one.place] = true
			one.group = anyGroup
			out = append(out, one)
		}
	}
	return out
}

// uniform says whether all controllers have the same role in a namespace, and no
// config map has an entry of a single service for its key.
func (m *migrator) uniform(name string) bool {
	n, role := m.namespaces[name], ""
	for i := range m.controllers {
		c := &m.controllers[i]
		r := m.resolve(c, n, "")
		if !c.reconciles(name) || r.Outcome != Role || role != "" && r.Role != role || m.overridden(r.Key) {
			return false
		}
		role = r.Role
	}
	return true
}
