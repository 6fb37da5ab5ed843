package permission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
)

// pairEffort bounds the work of comparing patterns: the products of the lengths of those that are
// compared. It takes some seconds at most, and real operators need a thousandth of it.
const pairEffort = 100_000_000

// pairing finds for the atoms that only one side has what they were or became.
type pairing struct {
	old, added []Atom
	left       int
	// usedOld and usedAdded are those that have a counterpart.
	usedOld, usedAdded map[Atom]bool
	out                []Change
}

// changes are all atoms of both sides, each in one change.
func (p *pairing) changes() []Change {
	p.usedOld, p.usedAdded = map[Atom]bool{}, map[Atom]bool{}
	p.match(ClassChanged, func(a, b Atom) bool { a.Request = b.Request; return a == b }) // by another request
	for _, atom := range p.added {
		if !p.usedAdded[atom] {
			if inner := p.within(atom, p.old, p.usedOld); len(inner) > 0 {
				p.add(ClassWidened, inner, []Atom{atom})
			}
		}
	}
	for _, atom := range p.old {
		if !p.usedOld[atom] {
			if inner := p.within(atom, p.added, p.usedAdded); len(inner) > 0 {
				p.add(ClassNarrowed, []Atom{atom}, inner)
			}
		}
	}
	p.match(ClassChanged, func(a, b Atom) bool { return isNearer(a, b) && a.Request == b.Request && a.Resource == b.Resource })
	p.match(ClassChanged, func(a, b Atom) bool { return isNearer(a, b) && a.Request == b.Request })
	p.match(ClassChanged, isNearer)
	for _, atom := range p.added {
		if !p.usedAdded[atom] {
			p.add(ClassAdded, nil, []Atom{atom})
		}
	}
	for _, atom := range p.old {
		if !p.usedOld[atom] {
			p.add(ClassRemoved, []Atom{atom}, nil)
		}
	}
	return p.out
}

// isNearer says that two atoms of AWS are of the same action.
func isNearer(a, b Atom) bool {
	return a.Cloud == AWS && b.Cloud == AWS && a.Effect == b.Effect && a.Action == b.Action
}

// match pairs atoms one to one.
func (p *pairing) match(class Class, is func(old, added Atom) bool) {
	for _, a := range p.old {
		if p.usedOld[a] {
			continue
		}
		i := slices.IndexFunc(p.added, func(b Atom) bool { return !p.usedAdded[b] && is(a, b) })
		if i >= 0 {
			p.add(class, []Atom{a}, []Atom{p.added[i]})
		}
	}
}

func (p *pairing) add(class Class, old, added []Atom) {
	for _, atom := range old {
		p.usedOld[atom] = true
	}
	for _, atom := range added {
		p.usedAdded[atom] = true
	}
	p.out = append(p.out, Change{Class: class, From: old, To: added})
}

// within are the atoms that are strictly inside another one: the same effect, patterns that fit
// nothing else, and the same condition or one more.
func (p *pairing) within(outer Atom, all []Atom, used map[Atom]bool) []Atom {
	var out []Atom
	for _, inner := range all {
		if !used[inner] && p.contains(outer, inner) {
			out = append(out, inner)
		}
	}
	return out
}

func (p *pairing) contains(outer, inner Atom) bool {
	isDropped := outer.Condition == "" && inner.Condition != ""
	if outer.Cloud != AWS || inner.Cloud != AWS || outer.Effect != inner.Effect || outer.Condition != inner.Condition && !isDropped {
		return false
	}
	if !mayContain(outer.Action, inner.Action) || !mayContain(outer.Resource, inner.Resource) {
		return false
	}
	p.left -= (1 + len(outer.Action)) * (1 + len(inner.Action))
	p.left -= (1 + len(outer.Resource)) * (1 + len(inner.Resource))
	if p.left < 0 {
		return false
	}
	large, small := targetOf(outer), targetOf(inner)
	return large.Contains(small) && (isDropped || !small.Contains(large))
}

func targetOf(a Atom) iampolicy.Target {
	return iampolicy.Target{Action: a.Action, Resource: a.Resource}
}

// mayContain says that a pattern begins as the other one does: it saves most comparisons.
func mayContain(outer, inner string) bool {
	head := outer
	if i := strings.IndexAny(outer, "*?$"); i >= 0 {
		head = outer[:i]
	} else if outer != inner && strings.Count(outer, ":") >= 5 {
		return false
	}
	return strings.HasPrefix(inner, head)
}

// factClasses are the classes of what differs besides permissions.
var factClasses = []struct {
	kind  FactKind
	class Class
}{
	{FactServiceAccount, ClassSubject}, {FactAudience, ClassSubject}, {FactSecret, ClassSecret},
	{FactTokenPath, ClassTokenPath}, {FactTokenAuth, ClassSupport},
}

// factChanges are the facts that only one side has, those of one kind and request in one change.
// Where of one side nothing is known, they are unknown, but for what the CSV itself says.
func factChanges(a, b Canonical) []Change {
	gone, added := without(a.Facts, b.Facts), without(b.Facts, a.Facts)
	var out []Change
	for _, one := range factClasses {
		class := one.class
		if (!a.Known || !b.Known) && one.kind != FactTokenAuth {
			class = ClassUnknown
		}
		var requests []string
		for _, f := range append(slices.Clone(gone), added...) {
			if f.Kind == one.kind && !slices.Contains(requests, f.Request) {
				requests = append(requests, f.Request)
			}
		}
		slices.SortFunc(requests, cmp.Compare)
		for _, request := range requests {
			of := func(all []Fact) (own []Fact) {
				for _, f := range all {
					if f.Kind == one.kind && f.Request == request {
						own = append(own, f)
					}
				}
				return own
			}
			out = append(out, Change{Class: class, FactsFrom: of(gone), FactsTo: of(added)})
		}
	}
	return out
}
