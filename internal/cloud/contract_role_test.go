package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	minted       = "infra-registry"
	mintedPolicy = minted + "-policy"
	readOnly     = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
	fullAccess   = "arn:aws:iam::aws:policy/AmazonS3FullAccess"
	// reading has what IAM encodes, and a percent sign that is not an encoding.
	reading = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/a+b %41"}]}`
	listing = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:ListBucket","Resource":"*"}]}`
)

func mintedRole() cloud.RoleWant {
	return cloud.RoleWant{
		Name: minted, Path: "/tabard/", Description: "the registry's", Trust: trustOfAccount(ownAccount), Boundary: readOnly,
		MaxSession: 2 * time.Hour, Tags: map[string]string{"kubernetes.io/cluster/infra": "owned"},
	}
}

// mint makes the minted role, and what it may do.
func (l *lab) mint(t *testing.T) {
	t.Helper()
	arn, err := l.roles.Create(t.Context(), person, mintedRole(), owner)
	must.Do(t, err)
	if want := "arn:aws:iam::" + ownAccount + ":role/tabard/" + minted; arn != want {
		t.Errorf("ARN %s, want %s", arn, want)
	}
	must.Do(t, l.roles.PutPolicy(t.Context(), person, minted, mintedPolicy, reading))
}

// wholeRole is the minted role as it is read.
func wholeRole() cloud.Role {
	return cloud.Role{
		Exists: true, Name: minted, Path: "/tabard/", ARN: "arn:aws:iam::" + ownAccount + ":role/tabard/" + minted, AccountID: ownAccount,
		Trust: trustOfAccount(ownAccount), Boundary: readOnly, MaxSession: 2 * time.Hour,
		Tags:     map[string]string{"kubernetes.io/cluster/infra": "owned", owner.Key: owner.Value},
		Policies: map[string]string{mintedPolicy: reading},
	}
}

func (l *lab) role(t *testing.T, name string) cloud.Role {
	t.Helper()
	return must.Get(l.roles.Get(t.Context(), person, name))(t)
}

// attach is somebody's doing.
func (l *lab) attach(t *testing.T, role string, policies ...string) {
	t.Helper()
	for _, arn := range policies {
		_, err := l.iam(t).AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: &arn})
		must.Do(t, err)
	}
}

// TestPoliciesOfARoleAreReadOneByOne, and a role or a policy that is gone has none.
func TestPoliciesOfARoleAreReadOneByOne(t *testing.T) {
	l := newLab(t)
	l.mint(t)
	l.attach(t, minted, fullAccess)
	if got := must.Get(l.roles.GetBare(t.Context(), person, minted))(t); got.Boundary != readOnly {
		t.Errorf("the boundary is %q, want %s", got.Boundary, readOnly)
	}
	for role, want := range map[string][2][]string{minted: {{mintedPolicy}, {fullAccess}}, "gone": {}} {
		inline, attached := must.Get(l.roles.InlineNames(t.Context(), person, role))(t), must.Get(l.roles.Attached(t.Context(), person, role))(t)
		if diff := cmp.Diff(want, [2][]string{inline, attached}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
	}
	for name, want := range map[string]string{mintedPolicy: reading, "gone": ""} {
		document, exists, err := l.roles.InlinePolicy(t.Context(), person, minted, name)
		if document != want || exists != (want != "") || err != nil {
			t.Errorf("%s is %s, %t, %v", name, document, exists, err)
		}
	}
	nobody := l.powerless(t)
	_, errOfInline := l.roles.InlineNames(t.Context(), nobody, minted)
	_, errOfAttached := l.roles.Attached(t.Context(), nobody, minted)
	_, _, errOfPolicy := l.roles.InlinePolicy(t.Context(), nobody, minted, mintedPolicy)
	for _, err := range []error{errOfInline, errOfAttached, errOfPolicy} {
		if !cloud.Is(err, fault.Denied) {
			t.Errorf("who may not read is told %v", err)
		}
	}
}

func TestMintedRoleComesAndGoes(t *testing.T) {
	l := newLab(t)
	if diff := cmp.Diff(cloud.Role{}, l.role(t, minted)); diff != "" {
		t.Errorf("absent role (-want +got):\n%s", diff)
	}
	for range 2 {
		l.mint(t)
		if diff := cmp.Diff(wholeRole(), l.role(t, minted)); diff != "" {
			t.Errorf("role (-want +got):\n%s", diff)
		}
	}
	for range 2 {
		must.Do(t, l.roles.DeleteRole(t.Context(), person, minted, owner))
		if l.role(t, minted).Exists {
			t.Error("the role is still there")
		}
	}
}

// TestMintedRoleCostsThreeCalls counts what is promised for ten thousand roles.
func TestMintedRoleCostsThreeCalls(t *testing.T) {
	l := newLab(t)
	before := l.calls.Load()
	if l.role(t, minted).Exists {
		t.Error("the role is there")
	}
	l.mint(t)
	if n := l.calls.Load() - before; n != 3 {
		t.Errorf("%d calls to make a role, want 3", n)
	}
}

// TestEachChangeOfARoleChangesThatAlone makes each change twice.
func TestEachChangeOfARoleChangesThatAlone(t *testing.T) {
	otherTrust := trustOfAccount(otherAccount)
	cases := map[string]struct {
		change func(*lab, context.Context) error
		want   func(*cloud.Role)
	}{
		"another trust": {
			func(l *lab, ctx context.Context) error { return l.roles.SetTrust(ctx, person, minted, otherTrust) },
			func(r *cloud.Role) { r.Trust = otherTrust },
		},
		"another policy": {
			func(l *lab, ctx context.Context) error {
				return l.roles.PutPolicy(ctx, person, minted, mintedPolicy, listing)
			},
			func(r *cloud.Role) { r.Policies[mintedPolicy] = listing },
		},
		"a second policy": {
			func(l *lab, ctx context.Context) error {
				return l.roles.PutPolicy(ctx, person, minted, "second", listing)
			},
			func(r *cloud.Role) { r.Policies["second"] = listing },
		},
		"no policy": {
			func(l *lab, ctx context.Context) error {
				return l.roles.RemovePolicy(ctx, person, minted, mintedPolicy)
			},
			func(r *cloud.Role) { delete(r.Policies, mintedPolicy) },
		},
		"another boundary": {
			func(l *lab, ctx context.Context) error {
				return l.roles.SetBoundary(ctx, person, minted, fullAccess)
			},
			func(r *cloud.Role) { r.Boundary = fullAccess },
		},
		"no boundary": {
			func(l *lab, ctx context.Context) error { return l.roles.SetBoundary(ctx, person, minted, "") },
			func(r *cloud.Role) { r.Boundary = "" },
		},
		"other tags": {
			func(l *lab, ctx context.Context) error {
				return l.roles.SetTags(ctx, person, minted, map[string]string{"a": "1", owner.Key: "x"}, []string{"kubernetes.io/cluster/infra"})
			},
			func(r *cloud.Role) { r.Tags = map[string]string{"a": "1", owner.Key: "x"} },
		},
		"a tag that differs from an old one in case": {
			func(l *lab, ctx context.Context) error {
				return l.roles.SetTags(ctx, person, minted, map[string]string{"Kubernetes.io/cluster/infra": "owned"}, []string{"kubernetes.io/cluster/infra"})
			},
			func(r *cloud.Role) {
				delete(r.Tags, "kubernetes.io/cluster/infra")
				r.Tags["Kubernetes.io/cluster/infra"] = "owned"
			},
		},
		"no tag": {
			func(l *lab, ctx context.Context) error { return l.roles.SetTags(ctx, person, minted, nil, nil) },
			func(*cloud.Role) {},
		},
		"a longer session": {
			func(l *lab, ctx context.Context) error {
				return l.roles.SetSession(ctx, person, minted, 12*time.Hour)
			},
			func(r *cloud.Role) { r.MaxSession = 12 * time.Hour },
		},
		"a policy that was never attached": {
			func(l *lab, ctx context.Context) error { return l.roles.Detach(ctx, person, minted, fullAccess) },
			func(*cloud.Role) {},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.mint(t)
			want := wholeRole()
			c.want(&want)
			for range 2 {
				must.Do(t, c.change(l, t.Context()))
				if diff := cmp.Diff(want, l.role(t, minted)); diff != "" {
					t.Errorf("role (-want +got):\n%s", diff)
				}
			}
			got := must.Get(l.iam(t).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String(minted)}))(t)
			if text := aws.ToString(got.Role.Description); text != mintedRole().Description {
				t.Errorf("the description is %q", text)
			}
		})
	}
}

func TestRoleWithoutWishesHasIAMsDefaults(t *testing.T) {
	l := newLab(t)
	must.Get(l.roles.Create(t.Context(), person, cloud.RoleWant{Name: minted, Trust: trustOfAccount(ownAccount)}, owner))(t)
	got := l.role(t, minted)
	if got.Path != "/" || got.MaxSession != time.Hour || got.Boundary != "" || !maps.Equal(got.Tags, map[string]string{owner.Key: owner.Value}) {
		t.Errorf("role %+v", got)
	}
}

// TestRoleOfAnotherOwnerIsNeitherTakenNorDeleted compares the whole tag.
func TestRoleOfAnotherOwnerIsNeitherTakenNorDeleted(t *testing.T) {
	for name, theirs := range map[string]cloud.Tag{
		"another key":          {Key: owner.Key + "x", Value: owner.Value},
		"another value":        {Key: owner.Key, Value: owner.Value + "x"},
		"a part of the value":  {Key: owner.Key, Value: owner.Value[:len(owner.Value)-1]},
		"the key in capitals":  {Key: strings.ToUpper(owner.Key), Value: owner.Value},
		"a value in its place": {Key: owner.Value, Value: owner.Key},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			must.Get(l.roles.Create(t.Context(), person, mintedRole(), theirs))(t)
			must.Do(t, l.roles.PutPolicy(t.Context(), person, minted, mintedPolicy, reading))
			before := l.role(t, minted)
			_, err := l.roles.Create(t.Context(), person, mintedRole(), owner)
			wantFault(t, err, fault.Exists, "CreateRole")
			wantFault(t, l.roles.DeleteRole(t.Context(), person, minted, owner), fault.Exists, "DeleteRole")
			if diff := cmp.Diff(before, l.role(t, minted)); diff != "" {
				t.Errorf("their role changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestOwnTagCannotBeReplacedByOthers(t *testing.T) {
	l := newLab(t)
	want := mintedRole()
	want.Tags[owner.Key] = "somebody's"
	must.Get(l.roles.Create(t.Context(), person, want, owner))(t)
	if got := l.role(t, minted).Tags[owner.Key]; got != owner.Value {
		t.Errorf("the owner's tag is %q", got)
	}
	if want.Tags[owner.Key] != "somebody's" {
		t.Error("the caller's tags were changed")
	}
}

// TestAttachedPoliciesKeepARoleAndAreNamed deletes a role to which somebody attached
// policies: nothing of it goes until they are detached.
func TestAttachedPoliciesKeepARoleAndAreNamed(t *testing.T) {
	l := newLab(t)
	l.mint(t)
	l.attach(t, minted, readOnly, fullAccess)
	before := l.role(t, minted)
	if diff := cmp.Diff([]string{fullAccess, readOnly}, before.Attached); diff != "" {
		t.Errorf("attached (-want +got):\n%s", diff)
	}
	err := l.roles.DeleteRole(t.Context(), person, minted, owner)
	wantFault(t, err, fault.Invalid, "DeleteRole")
	if !strings.Contains(err.Error(), fullAccess+", "+readOnly) {
		t.Errorf("the fault does not name the policies: %v", err)
	}
	if diff := cmp.Diff(before, l.role(t, minted)); diff != "" {
		t.Errorf("the role changed (-before +after):\n%s", diff)
	}
	for _, arn := range before.Attached {
		must.Do(t, l.roles.Detach(t.Context(), person, minted, arn))
	}
	must.Do(t, l.roles.DeleteRole(t.Context(), person, minted, owner))
	if l.role(t, minted).Exists {
		t.Error("the role is still there")
	}
}

func TestRoleOfManyPoliciesIsReadAndDeletedWhole(t *testing.T) {
	l := newLab(t)
	l.mint(t)
	want := wholeRole()
	for i := range 60 {
		name := fmt.Sprintf("more-%02d", i)
		must.Do(t, l.roles.PutPolicy(t.Context(), person, minted, name, listing))
		want.Policies[name] = listing
	}
	l.aws.Admin().SetShortPages(awslocal.ShortPages{On: true, Seed: 7})
	if diff := cmp.Diff(want, l.role(t, minted)); diff != "" {
		t.Errorf("role (-want +got):\n%s", diff)
	}
	must.Do(t, l.roles.DeleteRole(t.Context(), person, minted, owner))
	if l.role(t, minted).Exists {
		t.Error("the role is still there")
	}
}

// TestAllRolesAreReadAsEachIs compares the stream with what Get says of each.
func TestAllRolesAreReadAsEachIs(t *testing.T) {
	l := newLab(t)
	l.mint(t)
	l.attach(t, minted, readOnly, fullAccess)
	want := map[string]cloud.Role{minted: l.role(t, minted)}
	for i := range 120 {
		name := fmt.Sprintf("infra-%03d", i)
		role := mintedRole()
		role.Name, role.Boundary, role.MaxSession = name, "", time.Duration(1+i%3)*time.Hour
		must.Get(l.roles.Create(t.Context(), person, role, owner))(t)
		want[name] = l.role(t, name)
	}
	for _, short := range []bool{false, true} {
		l.aws.Admin().SetShortPages(awslocal.ShortPages{On: short, Seed: 3})
		got := map[string]cloud.Role{}
		before := l.calls.Load()
		must.Do(t, l.roles.All(t.Context(), person, func(role cloud.Role) error {
			if _, twice := got[role.Name]; twice {
				t.Errorf("%s comes twice", role.Name)
			}
			got[role.Name] = role
			return nil
		}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("roles (-want +got):\n%s", diff)
		}
		if calls := l.calls.Load() - before; !short && calls != 2 || short && calls < 4 {
			t.Errorf("short %t: %d calls", short, calls)
		}
	}
}

func TestAllRolesEndAtTheFirstErrorOfTheirReader(t *testing.T) {
	l := newLab(t)
	l.mint(t)
	l.powerless(t)
	enough, seen := errors.New("enough"), 0
	err := l.roles.All(t.Context(), person, func(cloud.Role) error {
		seen++
		return enough
	})
	if !errors.Is(err, enough) || seen != 1 {
		t.Errorf("%d roles, %v", seen, err)
	}
}
