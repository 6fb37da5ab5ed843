package iampolicy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Answer is what is known of a question about all requests there can be.
type Answer string

// The answers of Contains.
const (
	// Yes is certain.
	Yes Answer = "yes"
	// No says that the inner policy reaches beyond the outer one, if its own conditions
	// and variables allow it to.
	No Answer = "no"
	// Undecidable is neither: not to be taken for a Yes.
	Undecidable Answer = "undecidable"
)

// Containment is the answer of Contains.
type Containment struct {
	Answer Answer
	// Statement is the index of the inner policy's statement that is not contained,
	// counted from 0; -1 where no statement is at fault.
	Statement int
	// Sid is that statement's Sid, if it has one.
	Sid string
	// Action and Resource are what is not covered of the statement: an entry of its
	// Action and of its Resource as written, "*" for NotAction and NotResource.
	Action, Resource string
	// Reason is a sentence for a person, empty for Yes. It counts statements from 1.
	Reason string
}

// Contains says whether every request that the policy inner allows is allowed by the policy
// outer, too. Both are policies of an identity, a boundary or a session: each request is
// decided by one of them alone, as Evaluate does where it is the caller's only policy.
//
// Yes is certain. It rests on nothing that AWS leaves open about resources and
// variables: a variable is any text, except where outer has the same variable at
// the same place, and an ARN with parts missing is taken for more in inner and for less in
// outer. A condition of outer counts as met where a condition of the statement of inner
// implies it: the same operator and key, and the same values or fewer. What a Deny of inner
// takes away is not asked of outer.
//
// Undecidable is the answer where conditions, variables or a Deny decide and no
// certain rule says how, where a statement has a principal, where Unclear finds a condition, and where the patterns are so
// intricate that the work would exceed a bound, which takes tens of milliseconds.
//
// A nil policy allows nothing. Statements with a mistake never apply. It may be called
// by any number of goroutines at once.
func Contains(outer, inner *Policy) Containment {
	outer, inner = present(outer), present(inner)
	for _, one := range []struct {
		policy *Policy
		name   string
	}{{outer, "outer"}, {inner, "inner"}} {
		if len(one.policy.Principals()) > 0 {
			return Containment{Answer: Undecidable, Statement: -1, Reason: "the " + one.name +
				" policy names principals: only policies of an identity, which name none, can be compared"}
		}
	}
	if answer, is := unclearIn(outer, inner); is {
		return answer
	}
	q := &containing{checker: newChecker(), outer: outer, inner: inner}
	for i := range inner.statements {
		if s := &inner.statements[i]; !s.deny && s.applicable() {
			if answer := q.statement(i); answer.Answer != Yes {
				return answer
			}
		}
	}
	return Containment{Answer: Yes, Statement: -1}
}

// containing is one question of Contains.
type containing struct {
	*checker
	outer, inner *Policy
	// room is reused from statement to statement.
	room []*rect
}

// statement says whether a statement of the inner policy is contained.
func (q *containing) statement(index int) Containment {
	s := &q.inner.statements[index]
	region := q.region(q.rect(q.inner, index, readMost), q.inner)
	by := append(q.room[:0], q.denies(q.inner, s.conditions)...)
	for i := range q.outer.statements {
		o := &q.outer.statements[i]
		if !o.deny && o.applicable() && q.implied(o.conditions, s.conditions) {
			by = append(by, q.rect(q.outer, i, readLeast))
		}
	}
	q.room = by
	if gap := q.gapIn(region, by); gap != nil {
		return q.missing(index, gap)
	}
	for i := range q.outer.statements {
		o := &q.outer.statements[i]
		if !o.deny || !o.applicable() || q.exclusive(o.conditions, s.conditions) {
			continue
		}
		if gap := q.denied(index, i); gap != nil {
			return q.refused(index, i, gap)
		}
	}
	return Containment{Answer: Yes, Statement: -1}
}

// implied is the function of this name, and counts what it costs.
func (q *checker) implied(wanted, given []condition) bool {
	return q.spend(1+len(wanted)*len(given)) && implied(wanted, given)
}

// exclusive is the function of this name, and counts what it costs.
func (q *checker) exclusive(a, b []condition) bool {
	return q.spend(1+len(a)*len(b)) && exclusive(a, b)
}

// denies are a policy's statements that certainly deny where the conditions hold.
func (q *checker) denies(p *Policy, given []condition) []*rect {
	var all []*rect
	for i := range p.statements {
		s := &p.statements[i]
		if s.deny && s.applicable() && len(s.unclear) == 0 && q.implied(s.conditions, given) {
			all = append(all, q.rect(p, i, readLeast))
		}
	}
	return all
}

// denied finds a part of a statement of inner that a Deny of outer may refuse and that no
// Deny of inner refuses.
func (q *containing) denied(index, deny int) *gap {
	s, o := &q.inner.statements[index], &q.outer.statements[deny]
	whole := q.region(q.rect(q.outer, deny, readMost), q.outer)
	if by := q.denies(q.inner, o.conditions); len(by) > 0 && q.gapIn(whole, by) == nil {
		return nil
	}
	both := append(append([]condition{}, s.conditions...), o.conditions...)
	common := q.common(q.rect(q.inner, index, readAnything), q.rect(q.outer, deny, readAnything))
	return q.gapIn(common, q.denies(q.inner, both))
}

// common is what two rects have in common. Their patterns have no variables.
func (q *checker) common(a, b *rect) region {
	return region{q.commonCells(a.actions, b.actions), q.commonCells(a.resources, b.resources)}
}

// cellEffort bounds the memory for what two statements have in common.
const cellEffort = 8

func (q *checker) commonCells(a, b side) []cell {
	var all []cell
	for _, x := range q.cells(a) {
		for _, y := range q.cells(b) {
			if !q.spend(cellEffort) {
				return all // and gapIn finds nothing left to work with
			}
			if x.must[0].apart(y.must[0]) {
				continue
			}
			all = append(all, cell{must: [2]*pattern{x.must[0], y.must[0]}, without: append(append([]*pattern{}, x.without...), y.without...)})
		}
	}
	return all
}

// missing is the answer where the outer policy does not allow enough.
func (q *containing) missing(index int, g *gap) Containment {
	answer := q.answer(index, g)
	if g.hard {
		return answer
	}
	what := fmt.Sprintf("%s allows %s on %s", nameOf(q.inner, index), g.action.written, g.resource.written)
	s := &q.inner.statements[index]
	region := q.region(q.rect(q.inner, index, readMost), q.inner)
	by := q.possibleDenies(q.inner)
	conditional := -1
	for i := range q.outer.statements {
		o := &q.outer.statements[i]
		if !o.deny && o.applicable() && !q.fails(o, s) {
			by = append(by, q.rect(q.outer, i, readAnything))
			if conditional < 0 && !q.implied(o.conditions, s.conditions) {
				conditional = i
			}
		}
	}
	beyond := q.gapIn(region, by)
	switch {
	case beyond != nil && !beyond.hard:
		answer = q.answer(index, beyond)
		answer.Answer = No
		answer.Reason = fmt.Sprintf("%s allows %s on %s, which the outer policy does not", nameOf(q.inner, index), beyond.action.written, beyond.resource.written)
	case conditional >= 0:
		answer.Reason = what + ", and it is not certain that the conditions of the outer policy's " + nameOf(q.outer, conditional) + " follow from its own"
	default:
		answer.Reason = what + ", and whether the outer policy does so depends on the values of variables, or on how AWS reads an ARN with parts missing"
	}
	return answer
}

// fails says that a statement of outer asks for a condition key of which the statement of
// inner says nothing: a request without the key is allowed by inner only.
func (q *containing) fails(o, s *statement) bool {
	named := map[string]bool{}
	s.eachKey(func(key, _ string) { named[key] = true })
	for i := range o.conditions {
		if c := &o.conditions[i]; c.needsKey() && !named[c.key] {
			return true
		}
	}
	return false
}

// possibleDenies are a policy's statements that deny something if their conditions hold.
func (q *checker) possibleDenies(p *Policy) []*rect {
	var all []*rect
	for i := range p.statements {
		if s := &p.statements[i]; s.deny && s.applicable() {
			all = append(all, q.rect(p, i, readAnything))
		}
	}
	return all
}

// refused is the answer where a Deny of outer stands against a statement of inner.
func (q *containing) refused(index, deny int, g *gap) Containment {
	answer := q.answer(index, g)
	if g.hard {
		return answer
	}
	s, o := &q.inner.statements[index], &q.outer.statements[deny]
	answer.Reason = fmt.Sprintf("%s allows %s on %s, of which the outer policy's %s denies a part", nameOf(q.inner, index), g.action.written, g.resource.written, nameOf(q.outer, deny))
	plain := !s.hasVariables() && !o.hasVariables()
	if plain && q.implied(o.conditions, s.conditions) && q.gapIn(q.common(q.rect(q.inner, index, readLeast), q.rect(q.outer, deny, readLeast)), q.possibleDenies(q.inner)) != nil {
		answer.Answer = No
	}
	return answer
}

// hasVariables says whether what the statement is about depends on the request.
func (s *statement) hasVariables() bool {
	for i := range s.resourcePatterns {
		for k := range s.resourcePatterns[i].parts {
			if t := &s.resourcePatterns[i].parts[k]; t.parts != nil || t.broken {
				return true
			}
		}
	}
	return false
}

// answer is Undecidable, with the place.
func (q *containing) answer(index int, g *gap) Containment {
	return Containment{
		Answer: Undecidable, Statement: index, Sid: q.inner.statements[index].sid.value,
		Action: g.action.written, Resource: g.resource.written,
		Reason: fmt.Sprintf("the patterns around %s are so intricate that they cannot be compared within bounds: list actions and resources with fewer wildcards", nameOf(q.inner, index)),
	}
}

// nameOf names a statement by its Sid or by its place, counted from 1.
func nameOf(p *Policy, index int) string {
	if sid := p.statements[index].sid.value; sid != "" {
		return fmt.Sprintf("statement %d (%q)", index+1, sid)
	}
	return fmt.Sprintf("statement %d", index+1)
}

// MayAllow says whether a policy can allow a request whose action fits the pattern action
// and whose resource fits the pattern resource: texts as in the elements Action and
// Resource, with "*" and "?" and without variables. If it can, why names the statement and
// which of its actions and resources do.
//
// False is certain, whatever the condition keys of the request. True may be wrong: a
// condition of an Allow counts as met, a variable is any text, and a Deny counts only where
// it has no condition, or none that the Allow does not have, where Unclear finds none of
// either, and no doubt is left what it
// covers. Statements that name principals count as if they named the caller.
//
// A nil policy allows nothing. It may be called by any number of goroutines at once.
func MayAllow(p *Policy, action, resource string) (may bool, why string) {
	if !utf8.ValidString(action) || !utf8.ValidString(resource) {
		return true, "what is asked for is not UTF-8"
	}
	q := reaching{checker: newChecker(), goal: &Policy{}, asked: present(p)}
	name := newGlob(activate.Replace(strings.ToLower(action)))
	place := compileResource(resource, false)
	asked := &rect{
		actions:   side{patterns: []*pattern{q.action(&name, action)}},
		resources: side{patterns: []*pattern{q.resource(&place, resource, false, readAnything)}},
	}
	if index, gap := q.statement(asked, nil); gap != nil {
		return true, q.whyAllowed(q.asked, index, gap)
	}
	return false, ""
}

// whole is the rect of a statement that may have no resource, as one of a trust policy does.
func (q *checker) whole(p *Policy, index int) *rect {
	r := *q.rect(p, index, readAnything)
	if !p.statements[index].resources.present {
		r.resources = side{patterns: []*pattern{q.everything()}}
	}
	return &r
}

// deniedBy are the statements of policies that certainly deny where the conditions hold, each
// with a number of its own.
func (q *checker) deniedBy(given []condition, policies ...*Policy) (all []*rect) {
	before := 0
	for _, p := range policies {
		for _, deny := range q.denies(p, given) {
			one := *deny
			one.index += before
			all = append(all, &one)
		}
		before += len(p.statements)
	}
	return all
}

// mayAllow says that a statement can allow something.
func (s *statement) mayAllow() bool {
	return !s.deny && !s.broken && len(s.actionPatterns) > 0 && (s.principals != nil || s.applicable())
}

// whyAllowed says which statement it is.
func (q *checker) whyAllowed(p *Policy, index int, g *gap) string {
	if g.hard {
		return fmt.Sprintf("the patterns of %s are so intricate that they cannot be compared within bounds", nameOf(p, index))
	}
	return fmt.Sprintf("%s allows %s on %s", nameOf(p, index), g.action.written, g.resource.written)
}
