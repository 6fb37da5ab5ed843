package iampolicy

import "strings"

// Evaluate decides a request as AWS documents it (AWS: policy evaluation logic):
// an applying Deny of any policy ends the matter; else the caller needs an Allow of its own, limited by
// the permissions boundary and the session's policies, or, in its own account,
// one of the resource; from another account it needs both. A role's trust policy
// is the resource policy of sts:AssumeRole and its like, and is always needed.
// A policy that is nil among those of Identity or Session counts for nothing. Nil
// policies are none, and a nil request is one that asks for nothing, which no policy
// allows.
func Evaluate(request *Request, policies *Policies) Decision {
	request, policies = present(request), present(policies)
	if isExempt(request) {
		return Decision{Effect: Allow, Kind: IdentityPolicy}
	}
	q := newQuery(request, policies)
	var f findings
	q.askAll(policies, &f)
	return f.decision(&q, policies)
}

// present is what a pointer leads to, or an empty one of it.
func present[T any](thing *T) *T {
	if thing == nil {
		return new(T)
	}
	return thing
}

// isExempt names the action that needs no permission and that no Deny stops
// (AWS: GetCallerIdentity).
func isExempt(request *Request) bool {
	return strings.EqualFold(request.Action, "sts:GetCallerIdentity") && request.Principal.Kind != Anonymous
}

// newQuery prepares a request.
func newQuery(request *Request, policies *Policies) query {
	return query{
		Request: request, action: strings.ToLower(request.Action), resource: cutARN(request.Resource),
		bounded: policies.Boundary != nil,
	}
}

// decision weighs what the policies say.
func (f *findings) decision(q *query, policies *Policies) Decision {
	if denied, ok := f.denied(q.Principal.Kind); ok {
		return denied
	}
	return f.decide(q, policies)
}

// query is a request on its way through the statements.
type query struct {
	*Request
	// action is in lower case, resource the request's, cut.
	action   string
	resource arn
	// bounded says that the caller has a permissions boundary.
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

// askAll asks all policies.
func (q *query) askAll(policies *Policies, f *findings) {
	for _, policy := range policies.Identity {
		q.ask(policy, &f.identity)
	}
	f.given(policies)
	q.ask(policies.Boundary, &f.boundary)
	for _, policy := range policies.Session {
		q.ask(policy, &f.session)
	}
	q.askResource(policies.Resource, &f.resource)
}

// given notes which of the limits there are.
func (f *findings) given(policies *Policies) {
	f.boundary.given = policies.Boundary != nil
	f.session.given = len(policies.Session) > 0
}

// take keeps the first Allow and the first Deny.
func (f *finding) take(s *statement) {
	switch {
	case s.deny && f.deny == nil:
		f.deny = s
	case !s.deny && f.allow == nil:
		f.allow = s
	}
}

// takeNamed keeps the first Deny and the strongest Allow.
func (f *finding) takeNamed(s *statement, names strength) {
	switch {
	case s.deny && f.deny == nil:
		f.deny = s
	case !s.deny && names > f.strength:
		f.allow, f.strength = s, names
	}
}

// ask looks for an Allow and a Deny in a policy that belongs to a principal.
// One that names principals is in the wrong place and says nothing.
func (q *query) ask(policy *Policy, f *finding) {
	if policy == nil {
		return
	}
	for i := range policy.statements {
		s := &policy.statements[i]
		settled := f.allow != nil
		if s.deny {
			settled = f.deny != nil
		}
		if !settled && s.principals == nil && s.resources.present && q.applies(s) {
			f.take(s)
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
		f.takeNamed(s, names)
	}
}

// applies says whether action, resource and conditions of a statement fit.
func (q *query) applies(s *statement) bool {
	if s.broken || !q.actionFits(s) || !q.resourceFits(s) {
		return false
	}
	for i := range s.conditions {
		if !s.conditions[i].holds(q.Context) {
			return false
		}
	}
	return true
}

// actionFits compares the action, without regard to case (AWS: Action element).
// An empty list is a mistake, and fits nothing though it be NotAction.
func (q *query) actionFits(s *statement) bool {
	if len(s.actionPatterns) == 0 {
		return false
	}
	for i := range s.actionPatterns {
		if s.actionPatterns[i].match(q.action) {
			return !s.actions.not
		}
	}
	return s.actions.not
}

// resourceFits compares the resource (AWS: Resource element). A trust policy has
// none, the role being the resource; elsewhere a statement without one is a
// mistake, and an empty list is one anywhere.
func (q *query) resourceFits(s *statement) bool {
	if !s.resources.present {
		return strings.HasPrefix(q.action, "sts:")
	}
	if len(s.resourcePatterns) == 0 {
		return false
	}
	for i := range s.resourcePatterns {
		p := &s.resourcePatterns[i]
		if p.match(&q.resource, q.Context) {
			return !s.resources.not
		}
		if s.resources.not && !p.resolves(q.Context) {
			return false // with a variable left open nobody can tell what is not meant
		}
	}
	return s.resources.not
}
