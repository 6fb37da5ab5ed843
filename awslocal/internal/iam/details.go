package iam

import (
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

// The lists of GetAccountAuthorizationDetails, as its filter names them, in the order
// in which its pages show them.
const (
	listedUsers    = "User"
	listedGroups   = "Group"
	listedRoles    = "Role"
	listedPolicies = "LocalManagedPolicy"
	listedAWSs     = "AWSManagedPolicy"
)

var listedOrder = []string{listedUsers, listedGroups, listedRoles, listedPolicies, listedAWSs}

// detail is one item of these lists: one marker goes across them all, so each has a
// key that begins with the place of its list.
type detail struct {
	key    string
	user   *user
	role   *role
	policy *managed
}

// lists are those that a filter names; one that names none asks for all.
type lists []string

func (l lists) has(kind string) bool { return len(l) == 0 || slices.Contains(l, kind) }

// getAccountAuthorizationDetails shows everything that decides on rights, or the kinds
// that the filter names. Of AWS's own policies it shows those in use; AWS's reference
// does not say which it shows.
func getAccountAuthorizationDetails(r *request) any {
	filter := lists(r.form.List("Filter"))
	for _, kind := range filter {
		if !slices.Contains(listedOrder, kind) {
			call.Refuse(badFilter(filter))
		}
	}
	page := call.Must(query.ReadPage(r.form, r.options.ShortPages))
	r.authorize("*", nil)
	used := map[*managed]usage{}
	if filter.has(listedPolicies) || filter.has(listedAWSs) {
		used = r.usages()
	}
	shown, end := query.Cut(page, r.details(filter, used), func(d detail) string { return d.key })
	result := detailsResult{PageEnd: end}
	for _, one := range shown {
		switch {
		case one.user != nil:
			result.UserDetailList.Members = append(result.UserDetailList.Members, wireUserDetail(one.user))
		case one.role != nil:
			result.RoleDetailList.Members = append(result.RoleDetailList.Members, r.roleDetail(one.role))
		default:
			result.Policies.Members = append(result.Policies.Members, wirePolicyDetail(one.policy, used[one.policy]))
		}
	}
	return result
}

// details are all items of the lists, in no order. There are no groups.
func (r *request) details(asked lists, used map[*managed]usage) []detail {
	all := make([]detail, 0, len(r.account.roles))
	if asked.has(listedUsers) {
		for _, found := range r.account.users {
			all = append(all, detail{key: listKey(listedUsers, found.name), user: found})
		}
	}
	if asked.has(listedRoles) {
		for _, found := range r.account.roles {
			all = append(all, detail{key: listKey(listedRoles, found.name), role: found})
		}
	}
	if asked.has(listedPolicies) {
		for _, found := range r.account.policies {
			all = append(all, detail{key: listKey(listedPolicies, found.name), policy: found})
		}
	}
	if asked.has(listedAWSs) {
		for _, found := range r.catalog {
			if used[found] != (usage{}) {
				all = append(all, detail{key: listKey(listedAWSs, found.name), policy: found})
			}
		}
	}
	return all
}

func listKey(kind, name string) string {
	return string(rune('0'+slices.Index(listedOrder, kind))) + name
}

// roleDetail says nothing of the description and of the longest session, as AWS's.
func (r *request) roleDetail(of *role) roleDetailElement {
	return roleDetailElement{
		Path: of.path, RoleName: of.name, RoleId: of.id, Arn: of.arn(), CreateDate: query.Time(of.created),
		AssumeRolePolicyDocument: escapePolicy(of.trust.effective(r.uniqueID, r.newARN).text),
		RolePolicyList:           of.wireInline(),
		AttachedManagedPolicies:  of.wireAttached(),
		PermissionsBoundary:      wireBoundary(of.boundary),
		Tags:                     tagList(of.tags),
		RoleLastUsed:             wireLastUsed(of),
	}
}

func wireUserDetail(of *user) userDetailElement {
	return userDetailElement{
		Path: of.path, UserName: of.name, UserId: of.id, Arn: of.arn(), CreateDate: query.Time(of.created),
		UserPolicyList:          of.wireInline(),
		AttachedManagedPolicies: of.wireAttached(),
		PermissionsBoundary:     wireBoundary(of.boundary),
		Tags:                    tagList(of.tags),
	}
}

// wirePolicyDetail has all versions with their documents, the newest first.
func wirePolicyDetail(of *managed, used usage) policyDetailElement {
	element := policyDetailElement{managedElement: wirePolicy(of, used)}
	element.Description = of.description
	for i := len(of.versions) - 1; i >= 0; i-- {
		version := wireVersion(of, &of.versions[i])
		version.Document = escapePolicy(of.versions[i].text)
		element.PolicyVersionList.Members = append(element.PolicyVersionList.Members, version)
	}
	return element
}

func (h *holder) wireInline() list[inlineElement] {
	elements := make([]inlineElement, 0, len(h.inline))
	for _, name := range slices.Sorted(maps.Keys(h.inline)) {
		elements = append(elements, inlineElement{name, escapePolicy(h.inline[name].text)})
	}
	return listOf(elements)
}

func (h *holder) wireAttached() list[attachedElement] {
	elements := make([]attachedElement, 0, len(h.attached))
	for _, arn := range slices.Sorted(maps.Keys(h.attached)) {
		elements = append(elements, attachedElement{PolicyName: h.attached[arn].name, PolicyArn: arn})
	}
	return listOf(elements)
}
