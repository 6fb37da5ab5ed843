package credentials

import (
	"maps"
	"slices"

	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// after is a role after a step on it, so that what was written need not be read; nil if
// that is not known, or if the role is gone.
func after(role *core.Role, step core.Step) *core.Role {
	if create, is := step.(core.CreateRole); is {
		if role != nil {
			return role // it was there: nothing of it was changed
		}
		want := create.Want
		return &core.Role{
			Name: want.Name, Path: want.Path, ARN: want.ARN, Trust: want.Trust, Tags: want.Tags.Map(),
			Boundary: want.Boundary, MaxSession: want.MaxSession, Policies: map[string]string{},
		}
	}
	if role == nil {
		return nil
	}
	out := *role
	switch s := step.(type) {
	case core.PutPolicy:
		out.Policies = maps.Clone(role.Policies)
		if out.Policies == nil {
			out.Policies = map[string]string{}
		}
		out.Policies[s.Name] = s.Policy
	case core.RemovePolicy:
		out.Policies = maps.Clone(role.Policies)
		delete(out.Policies, s.Name)
	case core.SetTrust:
		out.Trust = s.Trust
	case core.SetBoundary:
		out.Boundary = s.Boundary
	case core.SetSession:
		out.MaxSession = s.MaxSession
	case core.SetTags:
		out.Tags = maps.Clone(role.Tags)
		if out.Tags == nil {
			out.Tags = map[string]string{}
		}
		maps.Copy(out.Tags, s.Tags.Map())
	case core.Detach:
		out.Attached = slices.DeleteFunc(slices.Clone(role.Attached), func(arn string) bool { return arn == s.Policy })
	default:
		return nil
	}
	return &out
}
