package iam

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

// getContextKeysForPrincipalPolicy lists the keys for which a simulation of the
// same policies asks.
func getContextKeysForPrincipalPolicy(r *request) any {
	arn := r.text("PolicySourceArn", 20, 2048, nil)
	found := r.policySource(arn)
	return r.contextKeys(simulation{identity: found.sources()})
}

func getContextKeysForCustomPolicy(r *request) any {
	var v query.Validation
	v.Required(r.form, "PolicyInputList")
	call.Check(v.Fault())
	r.authorize("*", nil)
	return r.contextKeys(simulation{})
}

// contextKeys adds the policies that the call gives. Names compare without
// regard to case: the first spelling counts.
func (r *request) contextKeys(s simulation) any {
	r.readPolicies(&s)
	names := []string{}
	for _, from := range s.identity {
		for _, name := range from.policy.ContextKeys() {
			if !slices.ContainsFunc(names, func(have string) bool { return strings.EqualFold(have, name) }) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return contextKeysResult{listOf(names)}
}
