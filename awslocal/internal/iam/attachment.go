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

// attachable finds a policy that may be attached. The caller needs no right on the
// policy itself.
func (r *request) attachable(arn string) *managed {
	found := r.policy(r.account, arn)
	if found == nil {
		call.Refuse(notAttachable(arn))
	}
	return found
}

// attachment reads PolicyArn and finds the holder.
func (find search) attachment(r *request) (*holder, string) {
	arn := r.policyARN()
	found := find(r, func(context iampolicy.Context) iampolicy.Context {
		context.Set("iam:PolicyARN", arn)
		return context
	})
	return found, arn
}

// attach may be repeated.
func (find search) attach(r *request) any {
	found, arn := find.attachment(r)
	policy := r.attachable(arn)
	if _, has := found.attached[arn]; !has && len(found.attached) >= maxAttached {
		call.Refuse(tooManyAttached(found))
	}
	found.attached[arn] = policy
	return nil
}

func (find search) detach(r *request) any {
	found, arn := find.attachment(r)
	if _, has := found.attached[arn]; !has {
		call.Refuse(noPolicy(arn))
	}
	delete(found.attached, arn)
	return nil
}

func (find search) listAttached(r *request) any {
	prefix := r.prefix()
	found := find(r, nil)
	all := slices.Collect(maps.Values(found.attached))
	all = slices.DeleteFunc(all, func(policy *managed) bool { return !strings.HasPrefix(policy.path, prefix) })
	shown, end := page(r, all, (*managed).listName, func(policy *managed) attachedElement {
		return attachedElement{PolicyName: policy.name, PolicyArn: policy.arn()}
	})
	return attachedResult{shown, end}
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

func listEntitiesForPolicy(r *request) any {
	prefix := r.prefix()
	var v query.Validation
	kind := strings.ToLower(v.Optional(r.form, "EntityFilter", 1, 32, entityFilters))
	filter := v.Optional(r.form, "PolicyUsageFilter", 1, 32, usageFilters)
	call.Check(v.Fault())
	policy := r.managed(nil)
	all := slices.DeleteFunc(r.account.holders(), func(found *holder) bool {
		return kind != "" && found.kind != kind || !strings.HasPrefix(found.path, prefix) || !found.uses(policy, filter)
	})
	shown, end := page(r, all, func(found *holder) string { return found.kind + "/" + found.name }, itself)
	result := entitiesResult{PageEnd: end}
	for _, found := range shown.Members {
		if found.kind == roleKind {
			result.PolicyRoles.Members = append(result.PolicyRoles.Members, roleEntity{found.name, found.id})
		} else {
			result.PolicyUsers.Members = append(result.PolicyUsers.Members, userEntity{found.name, found.id})
		}
	}
	return result
}

// uses says whether a holder has a policy in the way that the filter names; any
// way for an empty one.
func (h *holder) uses(policy *managed, filter string) bool {
	attached := h.attached[policy.arn()] == policy
	return attached && filter != asBoundary || h.boundary == policy && filter != asPermissions
}
