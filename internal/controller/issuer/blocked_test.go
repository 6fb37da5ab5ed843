package issuer_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// farAccounts are reached by roles.
var farAccounts = []string{"444455556666", "555566667777"}

// death is an issuer that is being deleted, on a fake API server and a fake AWS, with a
// clock of its own.
type death struct {
	*fixture
	registry *prometheus.Registry
	// trusted are the roles that mention the provider, by its account.
	trusted map[string][]string
	// gone are the accounts whose provider was deleted, refused those where that is
	// denied.
	gone, refused map[string]bool
	// calls are those that list all roles or delete, in their order.
	calls []string
}

func newDeath(t *testing.T) *death {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Do(t, v1alpha1.AddToScheme(scheme))
	d := &death{
		fixture: &fixture{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}, registry: prometheus.NewRegistry(),
		trusted: map[string][]string{}, gone: map[string]bool{}, refused: map[string]bool{},
	}
	object := &v1alpha1.OIDCIssuer{
		ObjectMeta: metav1.ObjectMeta{Name: "main", UID: "u", Generation: 2, Finalizers: []string{core.Finalizer}, DeletionTimestamp: &metav1.Time{Time: d.now}},
		Spec: v1alpha1.OIDCIssuerSpec{
			URL: "https://issuer.example", DeletionPolicy: v1alpha1.DeletionPolicyDelete,
			Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: testBucket, Region: testRegion}},
			Providers:   []v1alpha1.Provider{{Audiences: []string{"a"}}},
		},
		Status: v1alpha1.OIDCIssuerStatus{Publication: v1alpha1.PublicationStatus{Bucket: testBucket}},
	}
	for _, account := range farAccounts {
		object.Spec.Providers = append(object.Spec.Providers, v1alpha1.Provider{AssumeRoleARN: "arn:aws:iam::" + account + ":role/registrar"})
	}
	d.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build()
	d.controller = &issuer.Controller{
		Kit: controller.Kit{
			Client: d.client, Live: d.client, Events: events.NewFakeRecorder(1000), Finalizer: core.Finalizer,
			Metrics: controller.NewMetrics(d.registry, "issuer"),
		},
		Observer: &issuer.Observer{
			AWS: issuer.AWS{Accounts: deathAccounts{}, Buckets: noBuckets{}, Providers: deathProviders{d: d}, Roles: d},
			Now: func() time.Time { return d.now },
		},
	}
	return d
}

type deathAccounts struct{}

func (deathAccounts) Caller(context.Context, identity.Identity) (account, arn string, err error) {
	return testAccount, "arn:aws:sts::" + testAccount + ":assumed-role/tabard-issuer-main/tabard", nil
}

type noBuckets struct{ issuer.Buckets }

func (noBuckets) Get(context.Context, identity.Identity, cloud.Bucket) (cloud.BucketState, error) {
	return cloud.BucketState{}, nil
}

// accountOf is that of a provider.
func accountOf(arn string) string { return strings.Split(arn, ":")[4] }

type deathProviders struct {
	issuer.Providers
	d *death
}

func (p deathProviders) Get(_ context.Context, _ identity.Identity, arn string) (cloud.Provider, error) {
	return cloud.Provider{Exists: !p.d.gone[accountOf(arn)], Tags: map[string]string{core.OwnerTag: "https://issuer.example"}}, nil
}

func (p deathProviders) Delete(_ context.Context, _ identity.Identity, arn string, _ cloud.Tag) error {
	p.d.calls = append(p.d.calls, "Delete "+accountOf(arn))
	if p.d.refused[accountOf(arn)] {
		return fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "DeleteOpenIDConnectProvider"}
	}
	p.d.gone[accountOf(arn)] = true
	return nil
}

// TrustedBy lists all roles of an account.
func (d *death) TrustedBy(_ context.Context, _ identity.Identity, arn string) ([]string, error) {
	d.calls = append(d.calls, "ListRoles "+accountOf(arn))
	return d.trusted[accountOf(arn)], nil
}

// live makes passes for a time, as the manager would.
func (d *death) live(t *testing.T, life time.Duration) {
	t.Helper()
	for end := d.now.Add(life); d.now.Before(end); {
		result := must.Get(d.reconcile(t.Context(), d.controller, "main"))(t)
		if result.RequeueAfter == 0 {
			return // it is gone
		}
		d.now = d.now.Add(result.RequeueAfter)
	}
}

// listed counts the lists of an account's roles since the last count.
func (d *death) listed(account string) int {
	return len(slices.DeleteFunc(slices.Clone(d.calls), func(call string) bool { return call != "ListRoles "+account }))
}

// TestABlockedDeletionListsRolesEachTenMinutes has three accounts for an hour, looked at
// every half minute.
func TestABlockedDeletionListsRolesEachTenMinutes(t *testing.T) {
	for name, block := range map[string]func(*death){
		"by a role in one account":        func(d *death) { d.trusted[farAccounts[1]] = []string{"app"} },
		"by an account that refuses":      func(d *death) { d.refused[testAccount] = true },
		"by a role where another refuses": func(d *death) { d.trusted[farAccounts[0]], d.refused[testAccount] = []string{"app"}, true },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDeath(t)
			block(d)
			d.live(t, time.Hour)
			for _, account := range append(farAccounts, testAccount) {
				if got := d.listed(account); got < 2 || got > 7 {
					t.Errorf("the roles of %s were listed %d times in an hour, want each ten minutes", account, got)
				}
			}
			if len(d.gone) > 0 {
				t.Errorf("deleted in %v", d.gone)
			}
			d.changes(t)
		})
	}
}

// changes demands that a change of the object has all roles looked at in the next pass.
func (d *death) changes(t *testing.T) {
	t.Helper()
	for what, change := range map[string]func(*v1alpha1.OIDCIssuer){
		"the spec":      func(o *v1alpha1.OIDCIssuer) { o.Generation++ },
		"an annotation": func(o *v1alpha1.OIDCIssuer) { o.Annotations = map[string]string{"tabard.dev/look": "now"} },
	} {
		var stored v1alpha1.OIDCIssuer
		must.Do(t, d.client.Get(t.Context(), client.ObjectKey{Name: "main"}, &stored))
		change(&stored)
		must.Do(t, d.client.Update(t.Context(), &stored))
		d.calls = nil
		d.live(t, time.Second)
		for _, account := range append(farAccounts, testAccount) {
			if got := d.listed(account); got != 1 {
				t.Errorf("after a change of %s the roles of %s were listed %d times in the next pass, want once", what, account, got)
			}
		}
	}
}

// TestNothingIsDeletedWithoutALookOfTheSamePass lets go of the role that keeps a deletion
// waiting, while another account's comes to trust: the deletion goes on by what is so then.
func TestNothingIsDeletedWithoutALookOfTheSamePass(t *testing.T) {
	d := newDeath(t)
	d.trusted[farAccounts[0]] = []string{"app"}
	d.live(t, 15*time.Minute)
	d.trusted = map[string][]string{farAccounts[1]: {"late"}}
	d.live(t, 15*time.Minute)
	if len(d.gone) > 0 {
		t.Errorf("deleted in %v, though a role trusts the issuer by what AWS says now", d.gone)
	}
	d.trusted, d.calls = nil, nil
	d.live(t, 15*time.Minute)
	want := []string{"ListRoles " + testAccount, "ListRoles " + farAccounts[0], "ListRoles " + farAccounts[1],
		"Delete " + testAccount, "Delete " + farAccounts[0], "Delete " + farAccounts[1]}
	if !slices.Equal(d.calls, want) {
		t.Errorf("the calls were %q, want %q", d.calls, want)
	}
	var stored v1alpha1.OIDCIssuer
	if err := d.client.Get(t.Context(), client.ObjectKey{Name: "main"}, &stored); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the object is still there (%v)", err)
	}
}
