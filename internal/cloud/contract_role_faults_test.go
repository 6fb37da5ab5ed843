package cloud_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// roleCalls are all calls about roles, by the first operation of each.
func (l *lab) roleCalls(ctx context.Context, id identity.Identity) map[string]func() error {
	return map[string]func() error{
		"GetRole": func() error {
			_, err := l.roles.Get(ctx, id, minted)
			return err
		},
		"CreateRole": func() error {
			_, err := l.roles.Create(ctx, id, mintedRole(), owner)
			return err
		},
		"UpdateAssumeRolePolicy":        func() error { return l.roles.SetTrust(ctx, id, minted, trustOfAccount(ownAccount)) },
		"PutRolePolicy":                 func() error { return l.roles.PutPolicy(ctx, id, minted, mintedPolicy, reading) },
		"DeleteRolePolicy":              func() error { return l.roles.RemovePolicy(ctx, id, minted, mintedPolicy) },
		"PutRolePermissionsBoundary":    func() error { return l.roles.SetBoundary(ctx, id, minted, readOnly) },
		"DeleteRolePermissionsBoundary": func() error { return l.roles.SetBoundary(ctx, id, minted, "") },
		"TagRole":                       func() error { return l.roles.SetTags(ctx, id, minted, map[string]string{"a": "b"}, nil) },
		"UntagRole":                     func() error { return l.roles.SetTags(ctx, id, minted, nil, []string{"a"}) },
		"UpdateRole":                    func() error { return l.roles.SetSession(ctx, id, minted, time.Hour) },
		"DetachRolePolicy":              func() error { return l.roles.Detach(ctx, id, minted, readOnly) },
		"ListRoles":                     func() error { return l.roles.All(ctx, id, func(cloud.Role) error { return nil }) },
		"GetPolicy": func() error {
			_, _, err := l.roles.Policy(ctx, id, "arn:aws:iam::"+ownAccount+":policy/tabard/limit")
			return err
		},
		"CreatePolicy": func() error {
			_, _, err := l.roles.EnsurePolicy(ctx, id, "limit", "/tabard/", reading, owner)
			return err
		},
	}
}

// TestChangesOfAnAbsentRoleSaySo: what was to go is gone, the rest is a fault.
func TestChangesOfAnAbsentRoleSaySo(t *testing.T) {
	l := newLab(t)
	succeed := []string{
		"GetRole", "DeleteRolePolicy", "DeleteRolePermissionsBoundary", "DetachRolePolicy", "ListRoles", "GetPolicy", "CreatePolicy",
	}
	for operation, call := range l.roleCalls(t.Context(), person) {
		if operation == "CreateRole" {
			continue
		}
		switch err := call(); {
		case !slices.Contains(succeed, operation):
			wantFault(t, err, fault.Gone, operation)
		case err != nil:
			t.Errorf("%s: %v", operation, err)
		}
	}
	must.Do(t, l.roles.DeleteRole(t.Context(), person, minted, owner))
}

func TestDeniedRoleCallsChangeNothing(t *testing.T) {
	l := newLab(t)
	nobody := l.powerless(t)
	l.mint(t)
	for operation, call := range l.roleCalls(t.Context(), nobody) {
		wantFault(t, call(), fault.Denied, operation)
	}
	wantFault(t, l.roles.DeleteRole(t.Context(), nobody, minted, owner), fault.Denied, "GetRole")
	if diff := cmp.Diff(wholeRole(), l.role(t, minted)); diff != "" {
		t.Errorf("role (-want +got):\n%s", diff)
	}
}

// TestThrottledRoleCallsSaySo runs all at once: each waits between its attempts.
func TestThrottledRoleCallsSaySo(t *testing.T) {
	l := newLab(t)
	l.refusal.Store(&refusal{400, throttling})
	var wait sync.WaitGroup
	for operation, call := range l.roleCalls(t.Context(), person) {
		wait.Go(func() { wantFault(t, call(), fault.Throttled, operation) })
	}
	wait.Wait()
}

// TestEachCallOfAReadOrDeletionCanFail has the later calls of Get, DeleteRole, All and
// the like refused, one by one.
func TestEachCallOfAReadOrDeletionCanFail(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	l.mint(t)
	_, _, err := l.roles.EnsurePolicy(ctx, person, "limit", "/", reading, owner)
	must.Do(t, err)
	get := func() error {
		_, err := l.roles.Get(ctx, person, minted)
		return err
	}
	remove := func() error { return l.roles.DeleteRole(ctx, person, minted, owner) }
	ensure := func() error {
		_, _, err := l.roles.EnsurePolicy(ctx, person, "limit", "/", listing, owner)
		return err
	}
	for name, c := range map[string]struct {
		operation string
		call      func() error
	}{
		"the names of the policies of a role":     {"ListRolePolicies", get},
		"a policy of a role":                      {"GetRolePolicy", get},
		"the attached policies of a role":         {"ListAttachedRolePolicies", get},
		"the role that is there when one is made": {"GetRole", func() error { _, err := l.roles.Create(ctx, person, mintedRole(), owner); return err }},
		"the attached policies before a deletion": {"ListAttachedRolePolicies", remove},
		"the names before a deletion":             {"ListRolePolicies", remove},
		"the deletion of a policy":                {"DeleteRolePolicy", remove},
		"the deletion of the role":                {"DeleteRole", remove},
		"the details of all roles":                {"GetAccountAuthorizationDetails", func() error { return l.roles.All(ctx, person, func(cloud.Role) error { return nil }) }},
		"the number of roles":                     {"GetAccountSummary", func() error { _, err := l.roles.Usage(ctx, person); return err }},
		"the policies of the account":             {"ListPolicies", ensure},
		"the policy that is there":                {"GetPolicy", ensure},
		"the version of the policy":               {"GetPolicyVersion", ensure},
		"the versions of the policy":              {"ListPolicyVersions", ensure},
		"the new version":                         {"CreatePolicyVersion", ensure},
	} {
		l.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: c.operation, Code: "AccessDenied", Count: 1})
		t.Run(name, func(t *testing.T) { wantFault(t, c.call(), fault.Denied, c.operation) })
		l.mint(t)
	}
}

// TestRoleThatGoesWhileItIsReadIsGone has the role vanish after each call of Get and
// DeleteRole.
func TestRoleThatGoesWhileItIsReadIsGone(t *testing.T) {
	l := newLab(t)
	l.mint(t)
	for _, operation := range []string{"ListRolePolicies", "ListAttachedRolePolicies", "GetRole"} {
		l.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: operation, Code: "NoSuchEntity", Count: 1})
		if diff := cmp.Diff(cloud.Role{}, l.role(t, minted)); diff != "" {
			t.Errorf("gone at %s (-want +got):\n%s", operation, diff)
		}
	}
	l.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: "GetRolePolicy", Code: "NoSuchEntity", Count: 1})
	want := wholeRole()
	want.Policies = map[string]string{}
	if diff := cmp.Diff(want, l.role(t, minted)); diff != "" {
		t.Errorf("a policy that goes (-want +got):\n%s", diff)
	}
	for _, operation := range []string{"GetRole", "ListAttachedRolePolicies", "ListRolePolicies", "DeleteRole"} {
		l.mint(t)
		l.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: operation, Code: "NoSuchEntity", Count: 1})
		if err := l.roles.DeleteRole(t.Context(), person, minted, owner); err != nil {
			t.Errorf("deleting, gone at %s: %v", operation, err)
		}
	}
	// A policy that is said to be gone does not end the deletion of the role, which IAM
	// refuses as the policy is there in truth.
	l.mint(t)
	l.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: "DeleteRolePolicy", Code: "NoSuchEntity", Count: 1})
	wantFault(t, l.roles.DeleteRole(t.Context(), person, minted, owner), fault.Invalid, "DeleteRole")
}
