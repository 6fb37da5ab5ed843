package iampolicy

import (
	"encoding/binary"
	"slices"
	"strings"
)

// side is Action or Resource of a statement, or the negation of it.
type side struct {
	not      bool
	patterns []*pattern
}

// rect is what a statement that covers others is about: its actions times its resources.
type rect struct {
	index              int
	statement          *statement
	actions, resources side
	// unsure says that its NotResource has variables: it counts only for what leaves
	// out the same.
	unsure bool
}

// cell is what two patterns have in common, without what others fit.
type cell struct {
	must    [2]*pattern
	without []*pattern
	// excluded are the entries of the NotResource whence the cell is, as they are in the policy.
	excluded map[string]bool
}

// region is what one statement, or two of them, are about: every action times every
// resource.
type region struct{ actions, resources []cell }

// gap is a part of a region that is not covered. Where it is hard, that could not be
// found out.
type gap struct {
	action, resource *pattern
	hard             bool
}

// effort is the work that one question may cost, in steps of some nanoseconds each.
const effort = 3_000_000

// pairEffort is how much of it goes to a single pair of patterns.
const pairEffort = 30_000

// checker answers one question.
type checker struct {
	patterns
	left  int
	pairs map[[2]*pattern]bool
	rects map[rectKey]*rect
}

// rectKey names a rect.
type rectKey struct {
	policy *Policy
	index  int
	as     reading
}

func newChecker() *checker {
	return &checker{
		patterns: patterns{made: map[string]*pattern{}, variables: map[string]symbol{}},
		left:     effort, pairs: map[[2]*pattern]bool{}, rects: map[rectKey]*rect{},
	}
}

// spend takes from what is left; false where that is not enough.
func (c *checker) spend(n int) bool {
	c.left -= n
	return c.left >= 0
}

// covers says whether one pattern takes in another. Not to know is false.
func (c *checker) covers(outer, inner *pattern) bool {
	if outer.key == inner.key {
		return true
	}
	if !c.spend(1) || outer.apart(inner) {
		return false
	}
	pair := [2]*pattern{outer, inner}
	covered, known := c.pairs[pair]
	if !known {
		left := pairEffort
		covered = includes(outer, inner, c.everything(), func(n int) bool {
			left -= n
			return c.spend(n) && left >= 0
		})
		c.pairs[pair] = covered
	}
	return covered
}

// gapIn finds a part of a region that the statements do not cover together; nil if there
// is none. An action may be covered for one resource by one statement and for another
// by another: so all sets of statements are found that an action of the region can
// have, and each of them must cover all resources.
func (c *checker) gapIn(r region, by []*rect) *gap {
	if c.left < 0 {
		return &gap{action: c.everything(), resource: c.everything(), hard: true}
	}
	done := map[string]bool{}
	for _, action := range r.actions {
		var found *gap
		if !c.eachSet(action, by, func(set []*rect) bool {
			key := keyOf(set)
			if done[key] {
				return true
			}
			done[key] = true
			for _, resource := range r.resources {
				if covered, hard := c.resourceCovered(resource, set); !covered {
					found = &gap{action: action.must[0], resource: resource.must[0], hard: hard}
					return false
				}
			}
			return true
		}) {
			return &gap{action: action.must[0], resource: c.everything(), hard: true}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// keyOf names a set of statements.
func keyOf(set []*rect) string {
	var key []byte
	for _, one := range set {
		key = binary.AppendVarint(key, int64(one.index))
		key = append(key, '+')
		if one.statement.deny {
			key = append(key, '-')
		}
	}
	return string(key)
}

// watched are patterns of several statements that are followed at once.
type watched struct {
	all []*pattern
	// of is the number of the statement of a pattern; those that are left out of a cell
	// are of none.
	of []int
	// not are the statements that are about all but their patterns.
	not []bool
}

const ofNone = -1

// watch collects the patterns that can have a text in common with a cell.
func (c *checker) watch(in cell, sides []side) *watched {
	w := &watched{not: make([]bool, len(sides))}
	add := func(p *pattern, of int) {
		if c.spend(1) && !p.apart(in.must[0]) && !p.apart(in.must[1]) {
			w.all, w.of = append(w.all, p), append(w.of, of)
		}
	}
	for _, p := range in.without {
		add(p, ofNone)
	}
	for i, s := range sides {
		w.not[i] = s.not
		for _, p := range s.patterns {
			add(p, i)
		}
	}
	return w
}

// negates says whether to fit more patterns can mean less.
func (w *watched) negates() bool {
	return slices.Contains(w.not, true) || slices.Contains(w.of, ofNone)
}

// fits returns which statements are about a text, given the patterns that it fits. ok
// is false for a text that is none of the cell's.
func (w *watched) fits(ended func(func(owner int32))) (about []bool, ok bool) {
	about, ok = slices.Clone(w.not), true
	ended(func(owner int32) {
		if of := w.of[owner]; of == ofNone {
			ok = false
		} else {
			about[of] = !w.not[of]
		}
	})
	return about, ok
}

// eachSet visits every set of statements that are about one and the same action of a
// cell; of the sets that hold another one some are left out. It is false where the
// budget is too small.
func (c *checker) eachSet(in cell, by []*rect, visit func(set []*rect) bool) bool {
	sides := make([]side, len(by))
	for i, one := range by {
		sides[i] = one.actions
	}
	w := c.watch(in, sides)
	bundle := newBundle(w.all)
	walk := walk{
		must: in.must, watch: bundle, growing: !w.negates(),
		skip: func(places []int32) bool {
			skipped := false
			bundle.certain(places, func(owner int32) { skipped = skipped || w.of[owner] == ofNone })
			return skipped
		},
		visit: func(places []int32) bool {
			about, ok := w.fits(func(each func(int32)) { bundle.ended(places, each) })
			if !ok {
				return true
			}
			var set []*rect
			for i, is := range about {
				if is {
					set = append(set, by[i])
				}
			}
			return c.spend(len(by)) && visit(set)
		},
	}
	return walk.run(c.spend) && c.left >= 0
}

// resourceCovered says whether statements cover all resources of a cell together. hard
// says that this could not be found out.
func (c *checker) resourceCovered(in cell, by []*rect) (covered, hard bool) {
	negated := false
	for _, one := range by {
		if one.resources.not {
			if in.excludesAll(one.resources.patterns) {
				return true, false
			}
			negated = negated || !one.unsure
			continue
		}
		for _, p := range one.resources.patterns {
			if c.covers(p, in.must[0]) || c.covers(p, in.must[1]) {
				return true, false
			}
		}
	}
	if covered, hard = c.coveredTogether(in, by, false); covered || !negated {
		return covered, hard
	}
	// What a variable stands for may be what a NotResource leaves out.
	return c.coveredTogether(c.anything(in), by, true)
}

// excludesAll says that all patterns are among those that the cell leaves out.
func (c *cell) excludesAll(all []*pattern) bool {
	return c.excluded != nil && !slices.ContainsFunc(all, func(p *pattern) bool { return !c.excluded[p.key] })
}

// anything is the cell with any text for its variables.
func (c *checker) anything(in cell) cell {
	for i, p := range in.must {
		if p.variables {
			in.must[i] = c.widened(p)
		}
	}
	return in
}

// widened is a pattern with a star for each variable.
func (c *checker) widened(p *pattern) *pattern {
	return c.once("ww"+p.key, func() *pattern {
		wide := &pattern{written: p.written}
		for _, t := range p.tokens[:len(p.tokens)-1] {
			switch {
			case t.kind == takesOne && t.symbol.isVariable():
				wide.many(false)
			case t.kind == takesMany:
				wide.many(t.within)
			default:
				wide.tokens = append(wide.tokens, t)
			}
		}
		return wide.finish()
	})
}

// coveredTogether says whether every resource of a cell fits one of the statements.
// Statements with NotResource count if negated is set.
func (c *checker) coveredTogether(in cell, by []*rect, negated bool) (covered, hard bool) {
	var sides []side
	for _, one := range by {
		if !one.resources.not || negated && !one.unsure {
			sides = append(sides, one.resources)
		}
	}
	w := c.watch(in, sides)
	bundle := newBundle(w.all)
	missed := false
	walk := walk{
		must: in.must, watch: bundle, growing: !w.negates(),
		skip: func(places []int32) bool {
			skipped := false
			bundle.certain(places, func(owner int32) {
				skipped = skipped || w.of[owner] == ofNone || !w.not[w.of[owner]]
			})
			return skipped
		},
		visit: func(places []int32) bool {
			about, ok := w.fits(func(each func(int32)) { bundle.ended(places, each) })
			missed = ok && !slices.Contains(about, true)
			return !missed
		},
	}
	decided := walk.run(c.spend) && c.left >= 0
	return decided && !missed, !decided
}

// applicable says whether a statement of an identity's policy can apply to a request.
func (s *statement) applicable() bool {
	return !s.broken && s.principals == nil && s.resources.present && len(s.actionPatterns) > 0 && len(s.resourcePatterns) > 0
}

// rect is what a statement is about, in no reading more than that, or in no reading less.
func (c *checker) rect(p *Policy, index int, as reading) *rect {
	key := rectKey{p, index, as}
	if made := c.rects[key]; made != nil {
		return made
	}
	s := &p.statements[index]
	r := &rect{index: index, statement: s, actions: side{not: s.actions.not}, resources: side{not: s.resources.not}}
	for i := range s.actionPatterns {
		r.actions.patterns = append(r.actions.patterns, c.action(&s.actionPatterns[i], s.actions.values[i].value))
	}
	for i := range s.resourcePatterns {
		one := c.resourceOf(p, s, i, c.readingOf(s, as))
		if open := s.resources.not && c.open(p, s, i); !open || as == readLeast {
			r.resources.patterns = append(r.resources.patterns, one)
			r.unsure = r.unsure || open
		}
	}
	c.rects[key] = r
	return r
}

// readingOf is how the patterns of a statement's resources are read: to leave out more is
// to be about less.
func (c *checker) readingOf(s *statement, as reading) reading {
	switch {
	case !s.resources.not:
		return as
	case as == readLeast:
		return readAnything
	default:
		return readLeast
	}
}

// resourceOf is one pattern of a statement's resources.
func (c *checker) resourceOf(p *Policy, s *statement, i int, as reading) *pattern {
	return c.resource(&s.resourcePatterns[i], s.resources.values[i].value, p.version == newVersion, as)
}

// open says that a pattern has a variable, or something like one.
func (c *checker) open(p *Policy, s *statement, i int) bool {
	return p.version == newVersion && strings.Contains(s.resources.values[i].value, "${")
}

// region is what a rect is about, as what is to be covered.
func (c *checker) region(of *rect, p *Policy) region {
	excluded := map[string]bool{}
	for i := range of.statement.resourcePatterns {
		excluded[c.resourceOf(p, of.statement, i, readAnything).key] = true
	}
	r := region{actions: c.cells(of.actions), resources: c.cells(of.resources)}
	if of.resources.not {
		r.resources[0].excluded = excluded
	}
	return r
}

// cells are the cells of a side.
func (c *checker) cells(of side) []cell {
	if of.not {
		return []cell{{must: [2]*pattern{c.everything(), c.everything()}, without: of.patterns}}
	}
	var all []cell
	for _, p := range of.patterns {
		all = append(all, cell{must: [2]*pattern{p, c.everything()}})
	}
	return all
}
