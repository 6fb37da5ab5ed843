package eks

import (
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// accessPolicies are AWS's own, of which only the names are here (EKS: "Review
// access policy permissions").
var accessPolicies = []string{
	"AmazonEKSAdminPolicy", "AmazonEKSAdminViewPolicy", "AmazonEKSAutoNodePolicy", "AmazonEKSBlockStorageClusterPolicy",
	"AmazonEKSBlockStoragePolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSClusterInsightsPolicy", "AmazonEKSComputeClusterPolicy",
	"AmazonEKSComputePolicy", "AmazonEKSEditPolicy", "AmazonEKSHybridPolicy", "AmazonEKSLoadBalancingClusterPolicy",
	"AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingClusterPolicy", "AmazonEKSNetworkingPolicy", "AmazonEKSViewPolicy",
}

func (h home) accessPolicyARN(name string) string {
	return h.partition.ARN("eks", "", "aws", "cluster-access-policy/"+name)
}

func (h home) isAccessPolicy(arn string) bool {
	return slices.ContainsFunc(accessPolicies, func(name string) bool { return h.accessPolicyARN(name) == arn })
}

func (r *request) listAccessPolicies() any {
	r.authorize("*", nil)
	shown, next := page(r, slices.Clone(accessPolicies), func(name string) string { return name })
	answer := accessPoliciesAnswer{Policies: []accessPolicyElement{}, NextToken: next}
	for _, name := range shown {
		answer.Policies = append(answer.Policies, accessPolicyElement{name, r.accessPolicyARN(name)})
	}
	return answer
}

func (r *request) listAssociatedAccessPolicies() any {
	found, one := r.entry(nil)
	all := slices.Collect(maps.Values(one.policies))
	shown, next := page(r, all, func(g *grant) string { return g.arn })
	answer := grantsAnswer{ClusterName: found.name, PrincipalARN: one.principal, Policies: []grantElement{}, NextToken: next}
	for _, g := range shown {
		answer.Policies = append(answer.Policies, g.element())
	}
	return answer
}

type associatePolicyInput struct {
	PolicyARN string       `json:"policyArn"`
	Scope     *accessScope `json:"accessScope"`
}

func (in *associatePolicyInput) check() {
	switch {
	case in.PolicyARN == "":
		call.Refuse(invalidParameter(textRequired, "policyArn"))
	case in.Scope == nil:
		call.Refuse(invalidParameter(textRequired, "accessScope"))
	case in.Scope.Type != "cluster" && in.Scope.Type != "namespace":
		call.Refuse(invalidParameter(textScopeType, in.Scope.Type))
	case (in.Scope.Type == "namespace") != (len(in.Scope.Namespaces) > 0):
		call.Refuse(invalidParameter(textScopeNames))
	}
	if in.Scope.Namespaces == nil {
		in.Scope.Namespaces = []string{}
	}
}

// associateAccessPolicy changes the scope of a policy that is associated
// already.
func (r *request) associateAccessPolicy() any {
	in := input[associatePolicyInput](r)
	in.check()
	extra := policyContext(in.PolicyARN)
	extra.Set("eks:accessScope", in.Scope.Type)
	if len(in.Scope.Namespaces) > 0 {
		extra.Set("eks:namespaces", in.Scope.Namespaces...)
	}
	found, one := r.entry(extra)
	if !r.isAccessPolicy(in.PolicyARN) {
		call.Refuse(invalidParameter(textNoAccessPolicy, in.PolicyARN))
	}
	if one.kind != standard && one.kind != "EC2" {
		call.Refuse(invalidRequest(textPolicyOnNode, one.kind))
	}
	now := r.options.Now()
	made := &grant{arn: in.PolicyARN, scope: *in.Scope, created: now, modified: now}
	if old := one.policies[in.PolicyARN]; old != nil {
		made.created = old.created
	}
	one.policies[in.PolicyARN] = made
	return grantAnswer{found.name, one.principal, made.element()}
}

func policyContext(arn string) iampolicy.Context {
	context := iampolicy.Context{}
	context.Set("eks:policyArn", arn)
	return context
}

func (r *request) disassociateAccessPolicy() any {
	arn := r.path["policyArn"]
	_, one := r.entry(policyContext(arn))
	if one.policies[arn] == nil {
		call.Refuse(notFound(textNotAssociated, arn))
	}
	delete(one.policies, arn)
	return empty{}
}
