package iam

import (
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

// maxAttached is how many managed policies a role or user may hold.
const maxAttached = 10

// attachable finds a policy that may be attached or set as a boundary. The
// caller needs no right on the policy itself.
func (r *request) attachable(arn string) (*managed, *call.Fault) {
	found := r.policy(r.account, arn)
	if found == nil {
		return nil, notAttachable(arn)
	}
	return found, nil
}

// attachment reads PolicyArn and finds the holder.
func (find search) attachment(r *request) (*holder, string, *call.Fault) {
	arn, fault := r.policyARN()
	if fault != nil {
		return nil, "", fault
	}
	found, fault := find(r, func(context iampolicy.Context) iampolicy.Context {
		context.Set("iam:PolicyARN", arn)
		return context
	})
	return found, arn, fault
}

// attach may be repeated.
func (find search) attach(r *request) (any, *call.Fault) {
	found, arn, fault := find.attachment(r)
	if fault != nil {
		return nil, fault
	}
	policy, fault := r.attachable(arn)
	if fault != nil {
		return nil, fault
	}
	if _, has := found.attached[arn]; !has && len(found.attached) >= maxAttached {
		return nil, tooManyAttached(found)
	}
	found.attached[arn] = policy
	return nil, nil
}

func (find search) detach(r *request) (any, *call.Fault) {
	found, arn, fault := find.attachment(r)
	if fault != nil {
		return nil, fault
	}
	if _, has := found.attached[arn]; !has {
		return nil, noPolicy(arn)
	}
	delete(found.attached, arn)
	return nil, nil
}

func (find search) listAttached(r *request) (any, *call.Fault) {
	prefix, fault := r.prefix()
	if fault != nil {
		return nil, fault
	}
	found, fault := find(r, nil)
	if fault != nil {
		return nil, fault
	}
	all := slices.Collect(maps.Values(found.attached))
	all = slices.DeleteFunc(all, func(policy *managed) bool { return !strings.HasPrefix(policy.path, prefix) })
	shown, end, fault := page(r, all, func(policy *managed) string { return policy.name + " " + policy.account })
	if fault != nil {
		return nil, fault
	}
	elements := []attachedElement{}
	for _, policy := range shown {
		elements = append(elements, attachedElement{PolicyName: policy.name, PolicyArn: policy.arn()})
	}
	return attachedResult{listOf(elements), end}, nil
}

// usage is how many roles and users of an account hold a policy, and how many
// have it as their boundary.
type usage struct{ attached, boundary int }

const (
	asPermissions = "PermissionsPolicy"
	asBoundary    = "PermissionsBoundary"
)

var (
	usageFilters  = pattern.New(`^(PermissionsPolicy|PermissionsBoundary)$`)
	entityFilters = pattern.New(`^(User|Role|Group|LocalManagedPolicy|AWSManagedPolicy)$`)
)

// passes says whether a policy in this use is shown under a filter, which may be
// empty.
func (u usage) passes(filter string) bool {
	switch filter {
	case asPermissions:
		return u.attached > 0
	case asBoundary:
		return u.boundary > 0
	}
	return true
}

func (a *account) holders() []*holder {
	all := make([]*holder, 0, len(a.roles)+len(a.users))
	for _, found := range a.roles {
		all = append(all, &found.holder)
	}
	for _, found := range a.users {
		all = append(all, &found.holder)
	}
	return all
}

func (r *request) usages() map[*managed]usage {
	all := map[*managed]usage{}
	for _, found := range r.account.holders() {
		for _, policy := range found.attached {
			one := all[policy]
			one.attached++
			all[policy] = one
		}
		if found.boundary != nil {
			one := all[found.boundary]
			one.boundary++
			all[found.boundary] = one
		}
	}
	return all
}

func listEntitiesForPolicy(r *request) (any, *call.Fault) {
	prefix, fault := r.prefix()
	if fault != nil {
		return nil, fault
	}
	var v query.Validation
	kind := strings.ToLower(v.Optional(r.form, "EntityFilter", 1, 32, entityFilters))
	filter := v.Optional(r.form, "PolicyUsageFilter", 1, 32, usageFilters)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	policy, fault := r.managed(nil)
	if fault != nil {
		return nil, fault
	}
	all := slices.DeleteFunc(r.account.holders(), func(found *holder) bool {
		return kind != "" && found.kind != kind || !strings.HasPrefix(found.path, prefix) || !found.uses(policy, filter)
	})
	shown, end, fault := page(r, all, func(found *holder) string { return found.kind + "/" + found.name })
	if fault != nil {
		return nil, fault
	}
	result := entitiesResult{PageEnd: end}
	for _, found := range shown {
		if found.kind == roleKind {
			result.PolicyRoles.Members = append(result.PolicyRoles.Members, roleEntity{found.name, found.id})
		} else {
			result.PolicyUsers.Members = append(result.PolicyUsers.Members, userEntity{found.name, found.id})
		}
	}
	return result, nil
}

// uses says whether a holder has a policy in the way that the filter names; any
// way for an empty one.
func (h *holder) uses(policy *managed, filter string) bool {
	attached := h.attached[policy.arn()] == policy
	return attached && filter != asBoundary || h.boundary == policy && filter != asPermissions
}
