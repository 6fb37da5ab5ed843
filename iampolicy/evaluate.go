package iampolicy

import "strings"

// Evaluate decides a request as AWS documents it: an applying Deny of any
// policy ends the matter; else the caller needs an Allow of its own, limited by
// the permissions boundary and the session's policies, or, in its own account,
// one of the resource; from another account it needs both. A role's trust policy
// is the resource policy of sts:AssumeRole and its like, and is always needed.
// A policy that is nil among those of Identity or Session counts for nothing.
func Evaluate(request *Request, policies *Policies) Decision {
	if strings.EqualFold(request.Action, "sts:GetCallerIdentity") && request.Principal.Kind != Anonymous {
		return Decision{Effect: Allow, Kind: IdentityPolicy} // AWS: needs no permission, and no Deny stops it
	}
	q := &query{
		Request: request,
		action:  strings.ToLower(request.Action),
		bounded: policies.Boundary != nil,
	}
	f := q.findings(policies)
	if denied, ok := f.denied(request.Principal.Kind); ok {
		return denied
	}
	return f.decide(q, policies)
}

// query is a request on its way through the statements.
type query struct {
	*Request
	action  string
	bounded bool
}

// finding is what the policies of one kind say to a request.
type finding struct {
	allow, deny *statement
	// given says that there are policies of the kind at all.
	given bool
	// strength is how the strongest Allow of a resource policy names the caller.
	strength strength
}

// passes says that the kind does not stand in the way of a request: it exists
// and allows, or does not exist and limits nothing.
func (f finding) passes() bool { return !f.given || f.allow != nil }

// findings is what all kinds of policies say.
type findings struct{ identity, boundary, session, resource finding }

// findings asks all policies.
func (q *query) findings(policies *Policies) *findings {
	f := &findings{}
	for _, policy := range policies.Identity {
		q.ask(policy, &f.identity)
	}
	f.boundary.given = policies.Boundary != nil
	q.ask(policies.Boundary, &f.boundary)
	f.session.given = len(policies.Session) > 0
	for _, policy := range policies.Session {
		q.ask(policy, &f.session)
	}
	q.askResource(policies.Resource, &f.resource)
	return f
}

// ask looks for an Allow and a Deny in a policy that belongs to a principal.
// One that names principals is in the wrong place and says nothing.
func (q *query) ask(policy *Policy, f *finding) {
	if policy == nil {
		return
	}
	for i := range policy.statements {
		s := &policy.statements[i]
		slot := &f.allow
		if s.deny {
			slot = &f.deny
		}
		if *slot == nil && s.principals == nil && s.resources.present && q.applies(s) {
			*slot = s
		}
	}
}

// askResource looks for a Deny and the strongest Allow in a resource policy.
func (q *query) askResource(policy *Policy, f *finding) {
	if policy == nil {
		return
	}
	for i := range policy.statements {
		s := &policy.statements[i]
		names := s.names(&q.Principal, q.bounded)
		if names == unnamed || !q.applies(s) {
			continue
		}
		if s.deny {
			if f.deny == nil {
				f.deny = s
			}
			continue
		}
		if names > f.strength {
			f.allow, f.strength = s, names
		}
	}
}

// applies says whether action, resource and conditions of a statement fit.
func (q *query) applies(s *statement) bool {
	if s.broken || !s.actions.present || !q.actionFits(s) || !q.resourceFits(s) {
		return false
	}
	for i := range s.conditions {
		if !s.conditions[i].holds(q.Context) {
			return false
		}
	}
	return true
}

// actionFits compares the action.
func (q *query) actionFits(s *statement) bool {
	for _, pattern := range s.actionPatterns {
		if matchGlob(pattern, q.action) {
			return !s.actions.not
		}
	}
	return s.actions.not
}

// resourceFits compares the resource. A trust policy has none, the role being
// the resource; elsewhere a statement without one is a mistake.
func (q *query) resourceFits(s *statement) bool {
	if !s.resources.present {
		return strings.HasPrefix(q.action, "sts:")
	}
	for i := range s.resourcePatterns {
		matched, resolved := s.resourcePatterns[i].match(q.Resource, q.Context)
		if s.resources.not && (matched || !resolved) {
			// With a variable left open nobody can tell what is not meant.
			return false
		}
		if !s.resources.not && matched {
			return true
		}
	}
	return s.resources.not
}
