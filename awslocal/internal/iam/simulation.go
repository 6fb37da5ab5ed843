package iam

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
)

// simulation is a question to policies alone. It differs from a call: the
// context is only what the caller gives, and no policy of a resource takes part
// but one that is given.
type simulation struct {
	principal iampolicy.Principal
	identity  []source
	// boundary is nil for none.
	boundary *source
	// resource is the policy given for the resources, nil for none; owner is the
	// account of those whose ARN names none.
	resource *source
	owner    string
	context  iampolicy.Context
}

// source is a policy of a simulation and how answers name it.
type source struct {
	id, kind string
	policy   *iampolicy.Policy
}

// The kinds of sources (IAM: data type Statement, SourcePolicyType).
const (
	fromUser     = "user"
	fromRole     = "role"
	fromAWS      = "aws-managed"
	fromCustomer = "user-managed"
	fromResource = "resource"
	fromInput    = "none"
)

// decisions are the names of effects in answers.
var decisions = map[iampolicy.Effect]string{
	iampolicy.Allow:        "allowed",
	iampolicy.ExplicitDeny: "explicitDeny",
	iampolicy.ImplicitDeny: "implicitDeny",
}

// openToAll stands for the resource's side where no policy of a resource is
// given: the simulation asks the principal's side alone, without a role's trust.
var openToAll = func() *iampolicy.Policy {
	policy, err := iampolicy.Parse([]byte(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}}`))
	if err != nil {
		panic("awslocal: a policy that is a constant does not parse: " + err.Error())
	}
	return policy
}()

// run simulates one action on one resource.
func (s *simulation) run(action, resource string) evaluationElement {
	policies := iampolicy.Policies{Resource: openToAll}
	for i := range s.identity {
		policies.Identity = append(policies.Identity, s.identity[i].policy)
	}
	if s.boundary != nil {
		policies.Boundary = s.boundary.policy
	}
	request := iampolicy.Request{Principal: s.principal, Action: action, Resource: resource, Context: s.context}
	if s.resource != nil {
		policies.Resource, request.ResourceAccountID = s.resource.policy, s.ownerOf(resource)
	}
	found := iampolicy.Explain(&request, &policies)
	element := evaluationElement{
		EvalActionName: action, EvalResourceName: resource,
		EvalDecision:         decisions[found.Decision.Effect],
		MatchedStatements:    listOf(s.matched(&found)),
		MissingContextValues: listOf(s.missing(&found)),
	}
	if s.boundary != nil {
		element.PermissionsBoundaryDecisionDetail = &boundaryDetail{AllowedByPermissionsBoundary: allowedByBoundary(&found)}
	}
	return element
}

// ownerOf is the account in a resource's ARN, else the one that was given.
func (s *simulation) ownerOf(resource string) string {
	if parts := strings.SplitN(resource, ":", 6); len(parts) == 6 && parts[4] != "" {
		return parts[4]
	}
	return s.owner
}

// source is where a statement stands; false for the resource's side that nobody
// gave.
func (s *simulation) source(reason *iampolicy.Reason) (*source, bool) {
	switch {
	case reason.Kind == iampolicy.IdentityPolicy:
		return &s.identity[reason.Policy], true
	case reason.Kind == iampolicy.BoundaryPolicy:
		return s.boundary, true
	}
	return s.resource, s.resource != nil
}

// matched are the statements that determine the result: with an explicit deny
// only those that deny, with an implicit one none.
func (s *simulation) matched(found *iampolicy.Explanation) []statementElement {
	elements := []statementElement{}
	effect := "Allow"
	switch found.Decision.Effect {
	case iampolicy.ImplicitDeny:
		return elements
	case iampolicy.ExplicitDeny:
		effect = "Deny"
	}
	for i := range found.Statements {
		reason := &found.Statements[i]
		from, given := s.source(reason)
		if !given || !reason.Applied || reason.Effect != effect {
			continue
		}
		elements = append(elements, wireStatement(from, reason))
	}
	return elements
}

// missing are the keys that statements on this action and resource ask for, and
// that the caller did not give.
func (s *simulation) missing(found *iampolicy.Explanation) []string {
	keys := []string{}
	for i := range found.Statements {
		reason := &found.Statements[i]
		if _, given := s.source(reason); !given || !concerns(reason) {
			continue
		}
		for _, failure := range reason.Failures {
			for _, key := range failure.Missing {
				if !slices.ContainsFunc(keys, func(have string) bool { return strings.EqualFold(have, key) }) {
					keys = append(keys, key)
				}
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// concerns says that nothing but missing keys and conditions keeps a statement
// from applying.
func concerns(reason *iampolicy.Reason) bool {
	return !slices.ContainsFunc(reason.Failures, func(f iampolicy.Failure) bool {
		return f.Element != "Condition" && len(f.Missing) == 0
	})
}

func allowedByBoundary(found *iampolicy.Explanation) bool {
	allowed := false
	for i := range found.Statements {
		if reason := &found.Statements[i]; reason.Kind == iampolicy.BoundaryPolicy && reason.Applied {
			if reason.Effect == "Deny" {
				return false
			}
			allowed = true
		}
	}
	return allowed
}
