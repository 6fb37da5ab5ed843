package iam

import (
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

// rolePolicy reads RoleName and PolicyName; the policy need not exist.
func (r *request) rolePolicy() (*role, string, *call.Fault) {
	name, fault := r.name("PolicyName", 128)
	if fault != nil {
		return nil, "", fault
	}
	found, fault := r.role(nil)
	return found, name, fault
}

func putRolePolicy(r *request) (any, *call.Fault) {
	found, name, fault := r.rolePolicy()
	if fault != nil {
		return nil, fault
	}
	var v query.Validation
	text := v.Text(r.form, "PolicyDocument", 1, maxDocument, nil)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	parsed, fault := parseIdentity(text)
	if fault != nil {
		return nil, fault
	}
	total := size(text)
	for other, policy := range found.inline {
		if other != name {
			total += size(policy.text)
		}
	}
	if total > maxInline {
		return nil, inlineTooLong(found.name)
	}
	found.inline[name] = parsed
	return nil, nil
}

func getRolePolicy(r *request) (any, *call.Fault) {
	found, name, fault := r.rolePolicy()
	if fault != nil {
		return nil, fault
	}
	policy, known := found.inline[name]
	if !known {
		return nil, noRolePolicy(name)
	}
	return policyResult{RoleName: found.name, PolicyName: name, PolicyDocument: escapePolicy(policy.text)}, nil
}

func listRolePolicies(r *request) (any, *call.Fault) {
	found, fault := r.role(nil)
	if fault != nil {
		return nil, fault
	}
	names, end, fault := page(r, slices.Collect(maps.Keys(found.inline)), func(name string) string { return name })
	if fault != nil {
		return nil, fault
	}
	return namesResult{listOf(names), end}, nil
}

func deleteRolePolicy(r *request) (any, *call.Fault) {
	found, name, fault := r.rolePolicy()
	if fault != nil {
		return nil, fault
	}
	if _, known := found.inline[name]; !known {
		return nil, noRolePolicy(name)
	}
	delete(found.inline, name)
	return nil, nil
}
