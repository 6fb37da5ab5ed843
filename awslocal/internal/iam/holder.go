package iam

import (
	"maps"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// The kinds of holders, as ARNs and AWS's texts name them.
const (
	roleKind = "role"
	userKind = "user"
	// groupKind has no holders: there are no groups here.
	groupKind = "group"
)

// holder is what roles and users have in common: they hold policies, a
// permissions boundary and tags.
type holder struct {
	home
	kind, name, path, id string
	created              time.Time
	// inline has the policies' names as keys.
	inline map[string]document
	// attached has the managed policies' ARNs as keys.
	attached map[string]*managed
	// boundary is nil for none.
	boundary *managed
	tags     tags
}

func newHolder(home home, kind, name, path, id string, created time.Time) holder {
	return holder{
		home: home, kind: kind, name: name, path: path, id: id, created: created,
		inline: map[string]document{}, attached: map[string]*managed{},
	}
}

func (h *holder) arn() string { return h.entity(h.kind + h.path + h.name) }

// policies are all that the holder may do, as authorisation sees them.
func (h *holder) policies(seen func(*managed) *iampolicy.Policy) []*iampolicy.Policy {
	list := make([]*iampolicy.Policy, 0, len(h.inline)+len(h.attached))
	for _, name := range slices.Sorted(maps.Keys(h.inline)) {
		list = append(list, h.inline[name].policy)
	}
	for _, arn := range slices.Sorted(maps.Keys(h.attached)) {
		list = append(list, seen(h.attached[arn]))
	}
	return list
}

// names are those of policies and of the boundary.
func (h *holder) names() call.PolicyNames {
	names := call.PolicyNames{Identity: slices.Concat(slices.Sorted(maps.Keys(h.inline)), slices.Sorted(maps.Keys(h.attached)))}
	if h.boundary != nil {
		names.Boundary = h.boundary.arn()
	}
	return names
}

// limit is the policy of the permissions boundary, nil for none.
func (h *holder) limit(seen func(*managed) *iampolicy.Policy) *iampolicy.Policy {
	if h.boundary == nil {
		return nil
	}
	return seen(h.boundary)
}

// refuseInUse refuses to delete a holder that has policies still. A boundary does
// not
// count: it goes with its holder.
func (h *holder) refuseInUse() {
	switch {
	case len(h.attached) > 0:
		call.Refuse(conflict(textDetach))
	case len(h.inline) > 0:
		call.Refuse(conflict(textDeletePolicies))
	}
}

// seesBoundary names the operations for which the key iam:PermissionsBoundary is
// there (IAM: service authorization reference). Those that set a boundary see
// the new one.
var seesBoundary = map[string]bool{
	"AttachRolePolicy": true, "DetachRolePolicy": true, "PutRolePolicy": true, "DeleteRolePolicy": true,
	"AttachUserPolicy": true, "DetachUserPolicy": true, "PutUserPolicy": true, "DeleteUserPolicy": true,
	"DeleteRolePermissionsBoundary": true, "DeleteUserPermissionsBoundary": true,
}

// authorizeOn asks the policies for a role or user of a name. It comes before
// any word on whether that exists; found is nil where it does not.
func (r *request) authorizeOn(kind, name string, found *holder, context contextOf) {
	resource, own := r.account.entity(kind+"/"+name), iampolicy.Context{}
	if found != nil {
		resource, own = found.arn(), found.tags.context()
		if found.boundary != nil && seesBoundary[r.operation] {
			own.Set("iam:PermissionsBoundary", found.boundary.arn())
		}
	}
	if context != nil {
		own = context(own)
	}
	r.authorize(resource, own)
}

// search finds the role or user that a call names, once the policies allow the
// operation on it.
type search func(*request, contextOf) *holder

func theRole(r *request, context contextOf) *holder { return &r.role(context).holder }

func theUser(r *request, context contextOf) *holder { return &r.user(context).holder }

// tags makes a search one for tags.
func (find search) tags(r *request, context contextOf) *tags { return &find(r, context).tags }
