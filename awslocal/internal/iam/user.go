package iam

import (
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/iampolicy"
)

// maxLookup is how long a user's name may be where one is looked for; a new one
// is shorter.
const (
	maxName   = 64
	maxLookup = 128
)

// user reads UserName, authorises the caller for that user with the request's
// tags, and finds it.
func (r *request) user(context contextOf) (*user, *call.Fault) {
	name, fault := r.name("UserName", maxLookup)
	if fault != nil {
		return nil, fault
	}
	return r.userNamed(name, context)
}

// userOrCaller is the caller's own user where the call names none.
func (r *request) userOrCaller(context contextOf) (*user, *call.Fault) {
	if r.form.Has("UserName") {
		return r.user(context)
	}
	if r.call.Caller.Principal.Kind != iampolicy.User {
		return nil, noUserCredentials()
	}
	arn := r.call.Caller.Principal.ARN
	return r.userNamed(arn[strings.LastIndex(arn, "/")+1:], context)
}

func (r *request) userNamed(name string, context contextOf) (*user, *call.Fault) {
	found := r.account.users[fold(name)]
	var held *holder
	if found != nil {
		held = &found.holder
	}
	if fault := r.authorizeOn(userKind, name, held, context); fault != nil {
		return nil, fault
	}
	if found == nil {
		return nil, noUser(name)
	}
	r.changesUser(name, found)
	return found, nil
}

func createUser(r *request) (any, *call.Fault) {
	name, fault := r.name("UserName", maxName)
	if fault != nil {
		return nil, fault
	}
	path, fault := r.path("Path", "/")
	if fault != nil {
		return nil, fault
	}
	given, fault := r.readTags()
	if fault != nil {
		return nil, fault
	}
	made := &user{holder: newHolder(r.account.home, userKind, name, path, r.options.Identifiers.Unique(identifier.User), r.call.Now)}
	made.tags = given
	if fault := r.authorizeNew(&made.holder, "TagUser"); fault != nil {
		return nil, fault
	}
	if _, taken := r.account.users[fold(name)]; taken {
		return nil, userExists(name)
	}
	if len(r.account.users) >= maxUsers {
		return nil, overQuota("UsersPerAccount", maxUsers)
	}
	r.changesUser(name, nil)
	r.account.users[fold(name)] = made
	return userResult{wireUserInFull(made)}, nil
}

// authorizeNew authorises the making of a role or user with its tags and
// boundary, and gives it the boundary.
func (r *request) authorizeNew(made *holder, tagOperation string) *call.Fault {
	boundary, fault := r.boundaryARN(false)
	if fault != nil {
		return fault
	}
	context := withBoundary(withRequestTags(iampolicy.Context{}, made.tags), boundary)
	if fault := r.authorize(made.arn(), context); fault != nil {
		return fault
	}
	if len(made.tags) > 0 {
		if fault := r.authorizeAction(tagOperation, made.arn(), context); fault != nil {
			return fault
		}
	}
	if boundary == "" {
		return nil
	}
	made.boundary, fault = r.attachable(boundary)
	return fault
}

func getUser(r *request) (any, *call.Fault) {
	found, fault := r.userOrCaller(nil)
	if fault != nil {
		return nil, fault
	}
	return userResult{wireUserInFull(found)}, nil
}

func listUsers(r *request) (any, *call.Fault) {
	prefix, fault := r.prefix()
	if fault != nil {
		return nil, fault
	}
	if fault := r.authorize(r.account.entity(userKind+prefix), nil); fault != nil {
		return nil, fault
	}
	all := slices.Collect(maps.Values(r.account.users))
	all = slices.DeleteFunc(all, func(found *user) bool { return !strings.HasPrefix(found.path, prefix) })
	shown, end, fault := page(r, all, func(found *user) string { return found.name })
	if fault != nil {
		return nil, fault
	}
	elements := []userElement{}
	for _, found := range shown {
		elements = append(elements, wireUser(found))
	}
	return usersResult{listOf(elements), end}, nil
}

// updateUser moves a user to another name or path. The caller needs the right
// for the old and for the new one (IAM: UpdateUser).
func updateUser(r *request) (any, *call.Fault) {
	found, fault := r.user(nil)
	if fault != nil {
		return nil, fault
	}
	name := found.name
	if r.form.Has("NewUserName") {
		if name, fault = r.name("NewUserName", maxName); fault != nil {
			return nil, fault
		}
	}
	path, fault := r.path("NewPath", found.path)
	if fault != nil {
		return nil, fault
	}
	moved := holder{home: found.home, kind: userKind, name: name, path: path}
	if fault := r.authorize(moved.arn(), found.tags.context()); fault != nil {
		return nil, fault
	}
	if other := r.account.users[fold(name)]; other != nil && other != found {
		return nil, userExists(name)
	}
	// Whoever asks for the new name's user still sees it with the old name.
	r.changesUser(name, found)
	delete(r.account.users, fold(found.name))
	found.name, found.path = name, path
	r.account.users[fold(name)] = found
	return nil, nil
}

func deleteUser(r *request) (any, *call.Fault) {
	found, fault := r.user(nil)
	if fault != nil {
		return nil, fault
	}
	if fault := found.inUse(); fault != nil {
		return nil, fault
	}
	if len(found.keys) > 0 {
		return nil, conflict(textDeleteKeys)
	}
	delete(r.account.users, fold(found.name))
	return nil, nil
}

// listAccountAliases is always empty: accounts have no alias here.
func listAccountAliases(r *request) (any, *call.Fault) {
	if fault := r.authorize("*", nil); fault != nil {
		return nil, fault
	}
	return aliasesResult{}, nil
}
