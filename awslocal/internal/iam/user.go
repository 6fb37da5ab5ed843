package iam

import (
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// getUser answers the caller's own user where no name is given.
func getUser(r *request) (any, *call.Fault) {
	name := r.form.Get("UserName")
	if name == "" {
		if r.call.Caller.Principal.Kind != iampolicy.User {
			return nil, noUserCredentials()
		}
		arn := r.call.Caller.Principal.ARN
		name = arn[strings.LastIndex(arn, "/")+1:]
	}
	if len(name) > 128 || !namePattern.MatchString(name) {
		return nil, badName("userName")
	}
	found := r.account.users[fold(name)]
	resource := "arn:aws:iam::" + r.account.id + ":user/" + name
	if found != nil {
		resource = found.arn()
	}
	if fault := r.authorize(resource, nil); fault != nil {
		return nil, fault
	}
	if found == nil {
		return nil, noUser(name)
	}
	return userResult{wireUser(found)}, nil
}

func listUsers(r *request) (any, *call.Fault) {
	prefix, fault := r.prefix()
	if fault != nil {
		return nil, fault
	}
	if fault := r.authorize("arn:aws:iam::"+r.account.id+":user"+prefix, nil); fault != nil {
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

// listAccountAliases is always empty: accounts have no alias here.
func listAccountAliases(r *request) (any, *call.Fault) {
	if fault := r.authorize("*", nil); fault != nil {
		return nil, fault
	}
	return aliasesResult{}, nil
}
