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
	pathPattern = pattern.New(`^/([!-~]*/)?$`)

	// descriptionPattern is the model's: Latin letters and line ends.
	descriptionPattern = pattern.New(`^[\t\n\r\x20-\x7E\xA1-\xFF]*$`)

	prefixPattern = pattern.New(`^/[!-~]*$`)
)

// name reads and checks a required name.
func (r *request) name(parameter string, maximum int) (string, *call.Fault) {
	var v query.Validation
	name := v.Text(r.form, parameter, 1, maximum, nil)
	if fault := v.Fault(); fault != nil {
		return "", fault
	}
	if !namePattern.MatchString(name) {
		return "", badName(strings.ToLower(parameter[:1]) + parameter[1:])
	}
	return name, nil
}

// path reads a path, which may be absent.
func (r *request) path(parameter, absent string) (string, *call.Fault) {
	var v query.Validation
	path := v.Optional(r.form, parameter, 1, 512, nil)
	if fault := v.Fault(); fault != nil {
		return "", fault
	}
	if path == "" {
		return absent, nil
	}
	if !pathPattern.MatchString(path) {
		return "", badPath(strings.ToLower(parameter[:1]) + parameter[1:])
	}
	return path, nil
}

// prefix reads PathPrefix, which need not end in a slash; "/" where it is absent.
func (r *request) prefix() (string, *call.Fault) {
	var v query.Validation
	prefix := v.Optional(r.form, "PathPrefix", 1, 512, prefixPattern)
	if prefix == "" {
		prefix = "/"
	}
	return prefix, v.Fault()
}

// role reads RoleName, authorises the caller for that role with the request's
// tags, and finds it.
func (r *request) role(context contextOf) (*role, *call.Fault) {
	name, fault := r.name("RoleName", maxName)
	if fault != nil {
		return nil, fault
	}
	found := r.account.roles[fold(name)]
	var held *holder
	if found != nil {
		held = &found.holder
	}
	if fault := r.authorizeOn(roleKind, name, held, context); fault != nil {
		return nil, fault
	}
	if found == nil {
		return nil, noRole(name)
	}
	r.changesRole(name, found)
	return found, nil
}

func createRole(r *request) (any, *call.Fault) {
	made, fault := r.readRole()
	if fault != nil {
		return nil, fault
	}
	if fault := r.authorizeNew(&made.holder, "TagRole"); fault != nil {
		return nil, fault
	}
	made.trust, fault = r.parseTrust(r.form.Get("AssumeRolePolicyDocument"))
	if fault != nil {
		return nil, fault
	}
	if _, taken := r.account.roles[fold(made.name)]; taken {
		return nil, roleExists(made.name)
	}
	if len(r.account.roles) >= r.options.MaxRoles {
		return nil, overQuota("RolesPerAccount", r.options.MaxRoles)
	}
	r.changesRole(made.name, nil)
	r.account.roles[fold(made.name)] = made
	return roleResult{r.roleInFull(made)}, nil
}

// readRole makes a role of the parameters of CreateRole, all but its trust.
func (r *request) readRole() (*role, *call.Fault) {
	name, fault := r.name("RoleName", maxName)
	if fault != nil {
		return nil, fault
	}
	path, fault := r.path("Path", "/")
	if fault != nil {
		return nil, fault
	}
	session, fault := r.form.Int("MaxSessionDuration", minSession)
	if fault != nil {
		return nil, fault
	}
	var v query.Validation
	v.Text(r.form, "AssumeRolePolicyDocument", 1, maxDocument, nil)
	v.Number("MaxSessionDuration", session, minSession, maxSession)
	description := v.Optional(r.form, "Description", 0, 1000, descriptionPattern)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	given, fault := r.readTags()
	if fault != nil {
		return nil, fault
	}
	made := &role{
		holder:      newHolder(r.account.home, roleKind, name, path, r.options.Identifiers.Unique(identifier.Role), r.call.Now),
		description: description, maxSession: session,
	}
	made.tags = given
	return made, nil
}

// getRole tells when the role was last used as of now; AWS's answer may be hours
// old.
func getRole(r *request) (any, *call.Fault) {
	found, fault := r.role(nil)
	if fault != nil {
		return nil, fault
	}
	element := r.roleInFull(found)
	element.RoleLastUsed = &roleLastUsed{Region: found.region}
	if !found.used.IsZero() {
		element.RoleLastUsed.LastUsedDate = query.Time(found.used)
	}
	return roleResult{element}, nil
}

func listRoles(r *request) (any, *call.Fault) {
	prefix, fault := r.prefix()
	if fault != nil {
		return nil, fault
	}
	if fault := r.authorize(r.account.entity(roleKind+prefix), nil); fault != nil {
		return nil, fault
	}
	all := slices.Collect(maps.Values(r.account.roles))
	all = slices.DeleteFunc(all, func(found *role) bool { return !strings.HasPrefix(found.path, prefix) })
	shown, end, fault := page(r, all, func(found *role) string { return found.name })
	if fault != nil {
		return nil, fault
	}
	elements := []roleElement{}
	for _, found := range shown {
		elements = append(elements, r.roleElement(found))
	}
	return rolesResult{listOf(elements), end}, nil
}

func updateRole(r *request) (any, *call.Fault) {
	found, fault := r.role(nil)
	if fault != nil {
		return nil, fault
	}
	session, fault := r.form.Int("MaxSessionDuration", found.maxSession)
	if fault != nil {
		return nil, fault
	}
	var v query.Validation
	v.Number("MaxSessionDuration", session, minSession, maxSession)
	description := v.Optional(r.form, "Description", 0, 1000, descriptionPattern)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	found.maxSession = session
	if r.form.Has("Description") {
		found.description = description
	}
	return empty{}, nil
}

func updateAssumeRolePolicy(r *request) (any, *call.Fault) {
	found, fault := r.role(nil)
	if fault != nil {
		return nil, fault
	}
	var v query.Validation
	text := v.Text(r.form, "PolicyDocument", 1, maxDocument, nil)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	parsed, fault := r.parseTrust(text)
	if fault != nil {
		return nil, fault
	}
	found.trust = parsed
	return nil, nil
}

func deleteRole(r *request) (any, *call.Fault) {
	found, fault := r.role(nil)
	if fault != nil {
		return nil, fault
	}
	if fault := found.inUse(); fault != nil {
		return nil, fault
	}
	delete(r.account.roles, fold(found.name))
	return nil, nil
}

// listInstanceProfilesForRole is always empty: there are no instance profiles
// here, and the operations that make one answer that they are unknown.
func listInstanceProfilesForRole(r *request) (any, *call.Fault) {
	if _, fault := r.role(nil); fault != nil {
		return nil, fault
	}
	return instanceProfilesResult{}, nil
}
