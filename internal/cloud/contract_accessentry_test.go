package cloud_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/accessentry"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const hubName = "eks-hub"

var (
	hubRole  = cloud.AccessEntryRef{Cluster: hubName, Principal: "arn:aws:iam::" + ownAccount + ":role/ocm-hub-a"}
	hubEntry = cloud.AccessEntryWant{Username: "cluster1", Groups: []string{"open-cluster-management:cluster1"}, Tags: map[string]string{"env": "test"}}
)

// newHub is a local AWS with a cluster, and the bare role of hubRole in it.
func newHub(t *testing.T) (*lab, *accessentry.Entries) {
	t.Helper()
	l := newLab(t)
	must.Do(t, l.aws.Admin().AddCluster(awslocal.Cluster{Account: ownAccount, Region: region, Name: hubName, Issuer: ownURL}))
	_, err := l.roles.CreateBare(t.Context(), person, bareWant(), owner)
	must.Do(t, err)
	return l, accessentry.New(l.auth)
}

func bareWant() cloud.RoleWant {
	return cloud.RoleWant{Name: "ocm-hub-a", Trust: trustOfAccount(ownAccount), Tags: map[string]string{"env": "test"}}
}

func TestAccessEntryComesAndGoes(t *testing.T) {
	l, entries := newHub(t)
	get := func() cloud.AccessEntry { return must.Get(entries.Get(t.Context(), person, hubRole))(t) }
	if diff := cmp.Diff(cloud.AccessEntry{}, get()); diff != "" {
		t.Errorf("absent entry (-want +got):\n%s", diff)
	}
	before := l.calls.Load()
	must.Do(t, entries.Create(t.Context(), person, hubRole, hubEntry, owner))
	if n := l.calls.Load() - before; n != 1 {
		t.Errorf("%d calls to make an entry, want 1", n)
	}
	want := cloud.AccessEntry{Exists: true, Username: "cluster1", Groups: hubEntry.Groups, Type: "STANDARD", Tags: map[string]string{"env": "test", owner.Key: owner.Value}}
	if diff := cmp.Diff(want, get()); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	wantFault(t, entries.Create(t.Context(), person, hubRole, hubEntry, owner), fault.Exists, "CreateAccessEntry")
	want.Username, want.Groups = "cluster2", []string{"two"}
	must.Do(t, entries.Update(t.Context(), person, hubRole, cloud.AccessEntryWant{Username: "cluster2", Groups: []string{"two"}}, owner))
	if diff := cmp.Diff(want, get()); diff != "" {
		t.Errorf("updated entry (-want +got):\n%s", diff)
	}
	for range 2 {
		must.Do(t, entries.Delete(t.Context(), person, hubRole, owner))
		if get().Exists {
			t.Error("the entry is still there")
		}
	}
	wantFault(t, entries.Update(t.Context(), person, hubRole, hubEntry, owner), fault.Gone, "UpdateAccessEntry")
	nowhere := cloud.AccessEntryRef{Cluster: "none", Principal: hubRole.Principal}
	wantFault(t, entries.Create(t.Context(), person, nowhere, hubEntry, owner), fault.Gone, "CreateAccessEntry")
	missing := cloud.AccessEntryRef{Cluster: hubName, Principal: hubRole.Principal + "b"}
	err := entries.Create(t.Context(), person, missing, hubEntry, owner)
	wantFault(t, err, fault.Invalid, "CreateAccessEntry")
	if !cloud.HasCode(err, "InvalidParameterException") {
		t.Errorf("a principal that EKS does not know is %v", err)
	}
}

func TestAccessEntryOfAnotherIsNotTouched(t *testing.T) {
	l, entries := newHub(t)
	must.Do(t, entries.Create(t.Context(), person, hubRole, hubEntry, other))
	seen := must.Get(entries.Get(t.Context(), person, hubRole))(t)
	before := l.aws.Admin().Journal()
	wantFault(t, entries.Create(t.Context(), person, hubRole, hubEntry, owner), fault.Exists, "CreateAccessEntry")
	wantFault(t, entries.Update(t.Context(), person, hubRole, hubEntry, owner), fault.Exists, "UpdateAccessEntry")
	wantFault(t, entries.Delete(t.Context(), person, hubRole, owner), fault.Exists, "DeleteAccessEntry")
	if diff := cmp.Diff(seen, must.Get(entries.Get(t.Context(), person, hubRole))(t)); diff != "" {
		t.Errorf("the entry was changed (-before +after):\n%s", diff)
	}
	for _, call := range l.aws.Admin().Journal()[len(before):] {
		if call.Operation == "DeleteAccessEntry" || call.Operation == "UpdateAccessEntry" {
			t.Errorf("AWS was asked for %s", call.Operation)
		}
	}
}

// entryCalls are all calls about entries, by the first operation of each.
func entryCalls(ctx context.Context, entries *accessentry.Entries, id identity.Identity) map[string][]func() error {
	get := func() error {
		_, err := entries.Get(ctx, id, hubRole)
		return err
	}
	return map[string][]func() error{
		"CreateAccessEntry": {func() error { return entries.Create(ctx, id, hubRole, hubEntry, owner) }},
		"DescribeAccessEntry": {get,
			func() error { return entries.Update(ctx, id, hubRole, hubEntry, owner) },
			func() error { return entries.Delete(ctx, id, hubRole, owner) },
		},
	}
}

func TestDeniedAndThrottledEntryCallsSaySo(t *testing.T) {
	l, entries := newHub(t)
	nobody := l.powerless(t)
	for operation, calls := range entryCalls(t.Context(), entries, nobody) {
		for _, call := range calls {
			wantFault(t, call(), fault.Denied, operation)
		}
	}
	must.Do(t, entries.Create(t.Context(), person, hubRole, hubEntry, owner))
	for operation, call := range map[string]func() error{
		"UpdateAccessEntry": func() error { return entries.Update(t.Context(), person, hubRole, hubEntry, owner) },
		"DeleteAccessEntry": func() error { return entries.Delete(t.Context(), person, hubRole, owner) },
	} {
		l.aws.Admin().Inject(awslocal.Fault{Service: "eks", Operation: operation, Code: "AccessDeniedException", Count: 1})
		wantFault(t, call(), fault.Denied, operation)
	}
	l.aws.Admin().Inject(awslocal.Fault{Service: "eks", Operation: "DeleteAccessEntry", Code: "ResourceNotFoundException", Count: 1})
	must.Do(t, entries.Delete(t.Context(), person, hubRole, owner))
	l.aws.Admin().Inject(awslocal.Fault{Service: "eks", Code: "ThrottlingException", Count: 100})
	for operation, calls := range entryCalls(t.Context(), entries, person) {
		wantFault(t, calls[0](), fault.Throttled, operation)
	}
}

func TestBareRoleComesAndGoes(t *testing.T) {
	l, _ := newHub(t)
	get := func() cloud.BareRole { return must.Get(l.roles.GetBare(t.Context(), person, "ocm-hub-a"))(t) }
	first := get()
	want := cloud.BareRole{
		Exists: true, Name: "ocm-hub-a", ARN: hubRole.Principal, ID: first.ID, Trust: trustOfAccount(ownAccount),
		Tags: map[string]string{"env": "test", owner.Key: owner.Value},
	}
	if diff := cmp.Diff(want, first); diff != "" || first.ID == "" {
		t.Errorf("role (-want +got):\n%s", diff)
	}
	if id, err := l.roles.CreateBare(t.Context(), person, bareWant(), owner); err != nil || id != first.ID {
		t.Errorf("made again it is %s, %v, want %s", id, err, first.ID)
	}
	_, err := l.roles.CreateBare(t.Context(), person, bareWant(), other)
	wantFault(t, err, fault.Exists, "CreateRole")
	wantFault(t, l.roles.DeleteBare(t.Context(), person, "ocm-hub-a", other), fault.Exists, "DeleteRole")
	l.attach(t, "ocm-hub-a", readOnly)
	err = l.roles.DeleteBare(t.Context(), person, "ocm-hub-a", owner)
	if wantFault(t, err, fault.Invalid, "DeleteRole"); !cloud.HasCode(err, "DeleteConflict") {
		t.Errorf("a role with a policy of others: %v", err)
	}
	_, err = l.iam(t).DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: aws.String("ocm-hub-a"), PolicyArn: aws.String(readOnly)})
	must.Do(t, err)
	for range 2 {
		must.Do(t, l.roles.DeleteBare(t.Context(), person, "ocm-hub-a", owner))
		if get().Exists {
			t.Error("the role is still there")
		}
	}
	if id := must.Get(l.roles.CreateBare(t.Context(), person, bareWant(), owner))(t); id == first.ID {
		t.Error("a role that was made anew has the former ID")
	}
}

// TestAllBareRolesOfSeveralPages reads as many roles as IAM does not put on one page.
func TestAllBareRolesOfSeveralPages(t *testing.T) {
	l, _ := newHub(t)
	l.aws.Admin().SetShortPages(awslocal.ShortPages{On: true, Seed: 1})
	names := map[string]bool{}
	for i := range 30 {
		want := bareWant()
		want.Name += "-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		_, err := l.roles.CreateBare(t.Context(), person, want, owner)
		must.Do(t, err)
		names[want.Name] = true
	}
	names["ocm-hub-a"] = true
	must.Do(t, l.roles.AllBare(t.Context(), person, func(role cloud.BareRole) error {
		if delete(names, role.Name); role.ID == "" || !json.Valid([]byte(role.Trust)) || role.Tags != nil {
			t.Errorf("a list tells of %+v", role)
		}
		return nil
	}))
	if len(names) != 0 {
		t.Errorf("the list lacks %v", names)
	}
	nobody := l.powerless(t)
	wantFault(t, l.roles.AllBare(t.Context(), nobody, func(cloud.BareRole) error { return nil }), fault.Denied, "ListRoles")
	_, err := l.roles.GetBare(t.Context(), nobody, "ocm-hub-a")
	wantFault(t, err, fault.Denied, "GetRole")
	_, err = l.roles.CreateBare(t.Context(), nobody, bareWant(), owner)
	wantFault(t, err, fault.Denied, "CreateRole")
}

// TestEntryOfARoleThatWasMadeAnewLooksRight is why an entry is tagged with the role's ID.
func TestEntryOfARoleThatWasMadeAnewLooksRight(t *testing.T) {
	l, entries := newHub(t)
	must.Do(t, entries.Create(t.Context(), person, hubRole, hubEntry, owner))
	before := must.Get(entries.Get(t.Context(), person, hubRole))(t)
	must.Do(t, l.roles.DeleteBare(t.Context(), person, "ocm-hub-a", owner))
	_, err := l.roles.CreateBare(t.Context(), person, bareWant(), owner)
	must.Do(t, err)
	if diff := cmp.Diff(before, must.Get(entries.Get(t.Context(), person, hubRole))(t)); diff != "" {
		t.Errorf("the entry differs (-before +after):\n%s", diff)
	}
	if state := l.aws.Admin().Clusters()[0].AccessEntries; len(state) != 1 || !state[0].Stale {
		t.Errorf("EKS still ties the entry to the role: %+v", state)
	}
}
