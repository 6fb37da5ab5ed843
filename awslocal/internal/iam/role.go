package iam

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	minSession = 3600
	maxSession = 43200
)

var (
	namePattern = regexp.MustCompile(`^[\w+=,.@-]+$`)
	pathPattern = regexp.MustCompile(`^/([!-~]*/)?$`)

	prefixPattern = regexp.MustCompile(`^/[!-~]*$`)
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

// path reads a path, "/" where it is absent.
func (r *request) path(parameter string) (string, *call.Fault) {
	var v query.Validation
	path := v.Optional(r.form, parameter, 1, 512, nil)
	if fault := v.Fault(); fault != nil {
		return "", fault
	}
	if path == "" {
		return "/", nil
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
func (r *request) role(context func(iampolicy.Context) iampolicy.Context) (*role, *call.Fault) {
	name, fault := r.name("RoleName", 64)
	if fault != nil {
		return nil, fault
	}
	found := r.account.roles[fold(name)]
	resource, own := "arn:aws:iam::"+r.account.id+":role/"+name, iampolicy.Context{}
	if found != nil {
		resource, own = found.arn(), found.tags.context()
	}
	if context != nil {
		own = context(own)
	}
	if fault := r.authorize(resource, own); fault != nil {
		return nil, fault
	}
	if found == nil {
		return nil, noRole(name)
	}
	return found, nil
}

func createRole(r *request) (any, *call.Fault) {
	if fault := r.unsupported("PermissionsBoundary"); fault != nil {
		return nil, fault
	}
	made, given, fault := r.readRole()
	if fault != nil {
		return nil, fault
	}
	context := withRequestTags(iampolicy.Context{}, given)
	if fault := r.authorize(made.arn(), context); fault != nil {
		return nil, fault
	}
	if len(given) > 0 {
		if fault := r.authorizeAction("TagRole", made.arn(), context); fault != nil {
			return nil, fault
		}
	}
	made.trust, fault = r.parseTrust(r.form.Get("AssumeRolePolicyDocument"))
	if fault != nil {
		return nil, fault
	}
	if _, taken := r.account.roles[fold(made.name)]; taken {
		return nil, roleExists(made.name)
	}
	r.account.roles[fold(made.name)] = made
	element := r.roleElement(made)
	element.Tags = tagList(made.tags)
	return roleResult{element}, nil
}

// readRole makes a role of the parameters of CreateRole, all but its trust.
func (r *request) readRole() (*role, []query.Tag, *call.Fault) {
	name, fault := r.name("RoleName", 64)
	if fault != nil {
		return nil, nil, fault
	}
	path, fault := r.path("Path")
	if fault != nil {
		return nil, nil, fault
	}
	session, fault := r.form.Int("MaxSessionDuration", minSession)
	if fault != nil {
		return nil, nil, fault
	}
	var v query.Validation
	v.Text(r.form, "AssumeRolePolicyDocument", 1, maxDocument, nil)
	v.Number("MaxSessionDuration", session, minSession, maxSession)
	description := v.Optional(r.form, "Description", 0, 1000, nil)
	if fault := v.Fault(); fault != nil {
		return nil, nil, fault
	}
	given, fault := r.readTags()
	if fault != nil {
		return nil, nil, fault
	}
	return &role{
		account: r.account.id, name: name, path: path, description: description,
		id: r.options.Identifiers.Unique(identifier.Role), created: r.call.Now,
		maxSession: session, inline: map[string]document{}, tags: given,
	}, given, nil
}

func getRole(r *request) (any, *call.Fault) {
	found, fault := r.role(nil)
	if fault != nil {
		return nil, fault
	}
	element := r.roleElement(found)
	element.Tags = tagList(found.tags)
	return roleResult{element}, nil
}

func listRoles(r *request) (any, *call.Fault) {
	prefix, fault := r.prefix()
	if fault != nil {
		return nil, fault
	}
	if fault := r.authorize("arn:aws:iam::"+r.account.id+":role"+prefix, nil); fault != nil {
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
	description := v.Optional(r.form, "Description", 0, 1000, nil)
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
	if len(found.inline) > 0 {
		return nil, conflict()
	}
	delete(r.account.roles, fold(found.name))
	return nil, nil
}

// listAttachedRolePolicies is always empty: there are no managed policies here,
// and the operations that attach one answer that they are unknown.
func listAttachedRolePolicies(r *request) (any, *call.Fault) {
	if _, fault := r.role(nil); fault != nil {
		return nil, fault
	}
	return attachedResult{}, nil
}

// listInstanceProfilesForRole is always empty, for the same reason.
func listInstanceProfilesForRole(r *request) (any, *call.Fault) {
	if _, fault := r.role(nil); fault != nil {
		return nil, fault
	}
	return instanceProfilesResult{}, nil
}
