package roleselector

import "slices"

// posting is a list of selectors, sorted by the group of API kinds that they
// name, so that a reader looks only at those of the query's group and at those
// that leave the group open. A selector stands in it once a group.
type posting []entry

type entry struct {
	group    uint64 // of groupKey, or anyGroup
	selector *Selector
}

// anyGroup is the group of selectors that leave it open. It sorts first.
const anyGroup = 0

// groupKey is a number for a group: FNV-1a. Where two groups have the same one, a
// reader looks at too many selectors, and still asks each whether it selects.
func groupKey(group string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	key := uint64(offset)
	for i := range len(group) {
		key = (key ^ uint64(group[i])) * prime
	}
	return max(key, anyGroup+1)
}

// first is the index of the first entry that is not of a lower group.
func (p posting) first(group uint64) int {
	low, high := 0, len(p)
	for low < high {
		if middle := (low + high) / 2; p[middle].group < group {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (p posting) with(group uint64, s *Selector) posting {
	return slices.Insert(p, p.first(group), entry{group, s})
}

func (p posting) without(group uint64, s *Selector) posting {
	for i := p.first(group); i < len(p) && p[i].group == group; i++ {
		if p[i].selector == s {
			return slices.Delete(p, i, i+1)
		}
	}
	return p
}

// reading asks the selectors in postings whether they select a query. What is
// found goes from call to call as a result and not as a field: so the compiler
// sees that neither it nor the query leaves the stack.
type reading struct {
	query     *Query
	group     uint64
	needGroup bool
	unknown   bool // a selector depends on labels that are not known
}

func (r *reading) visit(p posting, found []*Selector) []*Selector {
	for i := range p {
		if p[i].group != anyGroup {
			break
		}
		found = r.ask(p[i].selector, found)
	}
	for i := p.first(r.group); i < len(p) && p[i].group == r.group; i++ {
		found = r.ask(p[i].selector, found)
	}
	return found
}

// ask does not ask for names: who has some is filed by them.
func (r *reading) ask(s *Selector, found []*Selector) []*Selector {
	switch s.selectsBesideName(r.query, r.needGroup) {
	case Yes:
		return append(found, s)
	case Unknown:
		r.unknown = true
	case No:
	}
	return found
}
