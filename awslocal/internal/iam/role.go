package iam

import (
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

const (
	minSession = 3600
	maxSession = 43200
)

var (
	namePattern = pattern.New(`^[\w+=,.@-]+$`)
	pathPattern = pattern.New(`^/([!-~]+/)?$`)

	// descriptionPattern is the model's: Latin letters and line ends.
	descriptionPattern = pattern.New(`^[\t\n\r\x20-\x7E\xA1-\xFF]*$`)

	prefixPattern = pattern.New(`^/[!-~]*$`)
)

// name reads and checks a required name.
func (r *request) name(parameter string, maximum int) string {
	name := r.text(parameter, 1, maximum, nil)
	if !namePattern.MatchString(name) {
		call.Refuse(badName(strings.ToLower(parameter[:1]) + parameter[1:]))
	}
	return name
}

// path reads a path, which may be absent.
func (r *request) path(parameter, absent string) string {
	var v query.Validation
	path := v.Optional(r.form, parameter, 1, 512, nil)
	call.Check(v.Fault())
	if path == "" {
		return absent
	}
	if !pathPattern.MatchString(path) {
		call.Refuse(badPath(strings.ToLower(parameter[:1]) + parameter[1:]))
	}
	return path
}

// prefix reads PathPrefix, which need not end in a slash; "/" where it is absent.
func (r *request) prefix() string {
	var v query.Validation
	prefix := v.Optional(r.form, "PathPrefix", 1, 512, prefixPattern)
	if prefix == "" {
		prefix = "/"
	}
	call.Check(v.Fault())
	return prefix
}

// role reads RoleName, authorises the caller for that role with the request's
// tags, and finds it.
func (r *request) role(context contextOf) *role {
	name := r.name("RoleName", maxName)
	found := r.account.roles[fold(name)]
	var held *holder
	if found != nil {
		held = &found.holder
	}
	r.authorizeOn(roleKind, name, held, context)
	if found == nil {
		call.Refuse(noRole(name))
	}
	r.changesRole(name, found)
	return found
}

func createRole(r *request) any {
	made := r.readRole()
	r.authorizeNew(&made.holder, "TagRole")
	made.trust = call.Must(r.parseTrust(r.form.Get("AssumeRolePolicyDocument")))
	if _, taken := r.account.roles[fold(made.name)]; taken {
		call.Refuse(roleExists(made.name))
	}
	if len(r.account.roles) >= r.options.MaxRoles {
		call.Refuse(overQuota("RolesPerAccount", r.options.MaxRoles))
	}
	r.changesRole(made.name, nil)
	r.account.roles[fold(made.name)] = made
	return roleResult{r.roleInFull(made)}
}

// readRole makes a role of the parameters of CreateRole, all but its trust.
func (r *request) readRole() *role {
	name, path := r.name("RoleName", maxName), r.path("Path", "/")
	session := call.Must(r.form.Int("MaxSessionDuration", minSession))
	var v query.Validation
	v.Text(r.form, "AssumeRolePolicyDocument", 1, maxDocument, nil)
	v.Number("MaxSessionDuration", session, minSession, maxSession)
	description := v.Optional(r.form, "Description", 0, 1000, descriptionPattern)
	call.Check(v.Fault())
	given := r.readTags()
	made := &role{
		holder:      newHolder(r.account.home, roleKind, name, path, r.options.Identifiers.Unique(identifier.Role), r.call.Now),
		description: description, maxSession: session,
	}
	made.tags = given
	return made
}

// getRole tells when the role was last used as of now; AWS's answer may be hours
// old.
func getRole(r *request) any {
	found := r.role(nil)
	element := r.roleInFull(found)
	element.RoleLastUsed = wireLastUsed(found)
	return roleResult{element}
}

func wireLastUsed(of *role) *roleLastUsed {
	last := roleLastUsed{Region: of.region}
	if !of.used.IsZero() {
		last.LastUsedDate = query.Time(of.used)
	}
	return &last
}

func listRoles(r *request) any {
	prefix := r.prefix()
	r.authorize(r.account.entity(roleKind+prefix), nil)
	all := slices.Collect(maps.Values(r.account.roles))
	all = slices.DeleteFunc(all, func(found *role) bool { return !strings.HasPrefix(found.path, prefix) })
	shown, end := page(r, all, func(found *role) string { return found.name }, r.roleElement)
	return rolesResult{shown, end}
}

// updateRole keeps a description that the call does not give, and sets a longest session
// that it does not give to one hour (IAM API: UpdateRole).
func updateRole(r *request) any {
	found := r.role(nil)
	session := call.Must(r.form.Int("MaxSessionDuration", minSession))
	var v query.Validation
	v.Number("MaxSessionDuration", session, minSession, maxSession)
	description := v.Optional(r.form, "Description", 0, 1000, descriptionPattern)
	call.Check(v.Fault())
	found.maxSession = session
	if r.form.Has("Description") {
		found.description = description
	}
	return empty{}
}

func updateAssumeRolePolicy(r *request) any {
	found := r.role(nil)
	found.trust = call.Must(r.parseTrust(r.text("PolicyDocument", 1, maxDocument, nil)))
	return nil
}

func deleteRole(r *request) any {
	found := r.role(nil)
	found.refuseInUse()
	delete(r.account.roles, fold(found.name))
	return nil
}

// listInstanceProfilesForRole is always empty: there are no instance profiles
// here, and the operations that make one answer that they are unknown.
func listInstanceProfilesForRole(r *request) any {
	r.role(nil)
	return instanceProfilesResult{}
}
