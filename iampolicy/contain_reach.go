package iampolicy

import "slices"

// Reaches says whether a request that goal allows can be allowed to a role whose permission
// policy is asked and whose permissions boundary is boundary: by both of them (AWS: permissions
// boundaries for IAM entities). A nil boundary is none, as in Policies. If it can, why names the
// statement of asked that allows it, and which of its actions and resources do.
//
// False is certain, whatever the condition keys of the request. True may be wrong for the reasons
// of MayAllow: a condition of an Allow counts as met, a variable is any text, and a Deny counts
// only where its conditions follow from those of the Allows.
//
// A nil goal allows nothing, nor does a nil asked. It may be called by any number of goroutines
// at once.
func Reaches(goal, asked, boundary *Policy) (may bool, why string) {
	r := reaching{goal: present(goal), asked: present(asked), boundary: boundary}
	for i := range r.goal.statements {
		s := &r.goal.statements[i]
		if !s.mayAllow() {
			continue
		}
		r.checker = newChecker() // each statement of goal has the effort of a question for itself
		if index, found := r.statement(r.whole(r.goal, i), s.certain()); found != nil {
			return true, r.whyAllowed(r.asked, index, found)
		}
	}
	return false, ""
}

// reaching is one question of Reaches.
type reaching struct {
	*checker
	goal, asked, boundary *Policy
}

// statement finds the first statement of asked by which a part of a target is reached, where
// conditions hold, and that part; nil if there is none.
func (r *reaching) statement(target *rect, conditions []condition) (index int, found *gap) {
	for i := range r.asked.statements {
		s := &r.asked.statements[i]
		if !s.mayAllow() {
			continue
		}
		if found = r.under(r.common(r.whole(r.asked, i), target), slices.Concat(conditions, s.certain())); found != nil {
			return i, found
		}
	}
	return -1, nil
}

// under finds a part of a region that no policy denies and that a statement of the boundary
// allows, if there is a boundary.
func (r *reaching) under(common region, conditions []condition) *gap {
	if r.boundary == nil {
		return r.gapIn(common, r.deniedBy(conditions, r.goal, r.asked))
	}
	for i := range r.boundary.statements {
		s := &r.boundary.statements[i]
		if !s.mayAllow() {
			continue
		}
		by := r.deniedBy(slices.Concat(conditions, s.certain()), r.goal, r.asked, r.boundary)
		if found := r.gapIn(common, append(by, r.beyond(r.whole(r.boundary, i))...)); found != nil {
			return found
		}
	}
	return nil
}

// beyond is all that a rect is not about.
func (r *reaching) beyond(of *rect) []*rect {
	all := side{patterns: []*pattern{r.everything()}}
	not := func(s side) side { return side{not: !s.not, patterns: s.patterns} }
	return []*rect{
		{index: -1, statement: of.statement, actions: not(of.actions), resources: all},
		{index: -2, statement: of.statement, actions: all, resources: not(of.resources)},
	}
}
