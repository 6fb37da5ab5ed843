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
func (r *request) user(context contextOf) *user {
	return r.userNamed(r.name("UserName", maxLookup), context)
}

// userOrCaller is the caller's own user where the call names none.
func (r *request) userOrCaller(context contextOf) *user {
	if r.form.Has("UserName") {
		return r.user(context)
	}
	if r.call.Caller.Principal.Kind != iampolicy.User {
		call.Refuse(noUserCredentials())
	}
	arn := r.call.Caller.Principal.ARN
	return r.userNamed(arn[strings.LastIndex(arn, "/")+1:], context)
}

func (r *request) userNamed(name string, context contextOf) *user {
	found := r.account.users[fold(name)]
	var held *holder
	if found != nil {
		held = &found.holder
	}
	r.authorizeOn(userKind, name, held, context)
	if found == nil {
		call.Refuse(noUser(name))
	}
	r.changesUser(name, found)
	return found
}

func createUser(r *request) any {
	name, path, given := r.name("UserName", maxName), r.path("Path", "/"), r.readTags()
	made := &user{holder: newHolder(r.account.home, userKind, name, path, r.options.Identifiers.Unique(identifier.User), r.call.Now)}
	made.tags = given
	r.authorizeNew(&made.holder, "TagUser")
	if _, taken := r.account.users[fold(name)]; taken {
		call.Refuse(userExists(name))
	}
	if len(r.account.users) >= maxUsers {
		call.Refuse(overQuota("UsersPerAccount", maxUsers))
	}
	r.changesUser(name, nil)
	r.account.users[fold(name)] = made
	return userResult{wireUserInFull(made)}
}

// authorizeNew authorises the making of a role or user with its tags and
// boundary, and gives it the boundary.
func (r *request) authorizeNew(made *holder, tagOperation string) {
	boundary := r.boundaryARN(false)
	r.authorizeTagged(made.arn(), made.tags, tagOperation, withBoundary(iampolicy.Context{}, boundary))
	if boundary != "" {
		made.boundary = r.limiting(boundary)
	}
}

func getUser(r *request) any {
	return userResult{wireUserInFull(r.userOrCaller(nil))}
}

func listUsers(r *request) any {
	prefix := r.prefix()
	r.authorize(r.account.entity(userKind+prefix), nil)
	all := slices.Collect(maps.Values(r.account.users))
	all = slices.DeleteFunc(all, func(found *user) bool { return !strings.HasPrefix(found.path, prefix) })
	shown, end := page(r, all, func(found *user) string { return found.name }, wireUser)
	return usersResult{shown, end}
}

// updateUser moves a user to another name or path. The caller needs the right
// for the old and for the new one (IAM: UpdateUser).
func updateUser(r *request) any {
	found := r.user(nil)
	name := found.name
	if r.form.Has("NewUserName") {
		name = r.name("NewUserName", maxName)
	}
	path := r.path("NewPath", found.path)
	moved := holder{home: found.home, kind: userKind, name: name, path: path}
	r.authorize(moved.arn(), found.tags.context())
	if other := r.account.users[fold(name)]; other != nil && other != found {
		call.Refuse(userExists(name))
	}
	// Whoever asks for the new name's user still sees it with the old name.
	r.changesUser(name, found)
	delete(r.account.users, fold(found.name))
	found.name, found.path = name, path
	r.account.users[fold(name)] = found
	return nil
}

func deleteUser(r *request) any {
	found := r.user(nil)
	found.refuseInUse()
	if len(found.keys) > 0 {
		call.Refuse(conflict(textDeleteKeys))
	}
	delete(r.account.users, fold(found.name))
	return nil
}

// listAccountAliases is always empty: accounts have no alias here.
func listAccountAliases(r *request) any {
	r.authorize("*", nil)
	return aliasesResult{}
}
