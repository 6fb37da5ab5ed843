package iam

import (
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// inlineRoom is how many characters all inline policies of a holder may have
// together (IAM: "IAM and STS quotas").
var inlineRoom = map[string]int{roleKind: 10240, userKind: 2048}

// inlinePolicy reads the holder and PolicyName; the policy need not exist.
func (find search) inlinePolicy(r *request) (*holder, string) {
	name := r.name("PolicyName", 128)
	return find(r, nil), name
}

func (find search) putPolicy(r *request) any {
	found, name := find.inlinePolicy(r)
	text := r.text("PolicyDocument", 1, maxDocument, nil)
	parsed := call.Must(parseIdentity(text))
	total := size(text)
	for other, policy := range found.inline {
		if other != name {
			total += size(policy.text)
		}
	}
	if total > inlineRoom[found.kind] {
		call.Refuse(inlineTooLong(found))
	}
	found.inline[name] = parsed
	return nil
}

func (find search) getPolicy(r *request) any {
	found, name := find.inlinePolicy(r)
	policy, known := found.inline[name]
	if !known {
		call.Refuse(noInlinePolicy(found, name))
	}
	result := policyResult{PolicyName: name, PolicyDocument: escapePolicy(policy.text)}
	if found.kind == roleKind {
		result.RoleName = found.name
	} else {
		result.UserName = found.name
	}
	return result
}

func (find search) listPolicies(r *request) any {
	found := find(r, nil)
	names, end := page(r, slices.Collect(maps.Keys(found.inline)), itself, itself)
	return namesResult{names, end}
}

func (find search) deletePolicy(r *request) any {
	found, name := find.inlinePolicy(r)
	if _, known := found.inline[name]; !known {
		call.Refuse(noInlinePolicy(found, name))
	}
	delete(found.inline, name)
	return nil
}
