package iam

import (
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

// inlineRoom is how many characters all inline policies of a holder may have
// together (IAM: "IAM and STS quotas").
var inlineRoom = map[string]int{roleKind: 10240, userKind: 2048}

// inlinePolicy reads the holder and PolicyName; the policy need not exist.
func (find search) inlinePolicy(r *request) (*holder, string, *call.Fault) {
	name, fault := r.name("PolicyName", 128)
	if fault != nil {
		return nil, "", fault
	}
	found, fault := find(r, nil)
	return found, name, fault
}

func (find search) putPolicy(r *request) (any, *call.Fault) {
	found, name, fault := find.inlinePolicy(r)
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
	if total > inlineRoom[found.kind] {
		return nil, inlineTooLong(found)
	}
	found.inline[name] = parsed
	return nil, nil
}

func (find search) getPolicy(r *request) (any, *call.Fault) {
	found, name, fault := find.inlinePolicy(r)
	if fault != nil {
		return nil, fault
	}
	policy, known := found.inline[name]
	if !known {
		return nil, noInlinePolicy(found, name)
	}
	result := policyResult{PolicyName: name, PolicyDocument: escapePolicy(policy.text)}
	if found.kind == roleKind {
		result.RoleName = found.name
	} else {
		result.UserName = found.name
	}
	return result, nil
}

func (find search) listPolicies(r *request) (any, *call.Fault) {
	found, fault := find(r, nil)
	if fault != nil {
		return nil, fault
	}
	names, end, fault := page(r, slices.Collect(maps.Keys(found.inline)), func(name string) string { return name })
	if fault != nil {
		return nil, fault
	}
	return namesResult{listOf(names), end}, nil
}

func (find search) deletePolicy(r *request) (any, *call.Fault) {
	found, name, fault := find.inlinePolicy(r)
	if fault != nil {
		return nil, fault
	}
	if _, known := found.inline[name]; !known {
		return nil, noInlinePolicy(found, name)
	}
	delete(found.inline, name)
	return nil, nil
}
