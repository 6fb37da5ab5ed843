package kube_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// death is the end of a process that has got so far.
type death struct{}

// mortal is a cluster and an AWS of several accounts, which share no names, and in
// which the controller dies at one of its writes, before it or after.
type mortal struct {
	t      *testing.T
	client client.Client
	roles  *kube.Roles
	// buckets are the accounts that have one, made is how often one was made.
	buckets map[string]bool
	made    int
	// left are the writes until it dies, which is after the last or before it.
	left  int
	after bool
}

func newMortal(t *testing.T, left int, after bool) *mortal {
	m := &mortal{t: t, buckets: map[string]bool{}, left: left, after: after}
	m.client = fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithStatusSubresource(newBucket()).WithObjects(bucket("prod", "logs")).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) (err error) {
				m.write(func() { err = c.Patch(ctx, object, patch, options...) })
				return err
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) (err error) {
				m.write(func() { err = c.SubResource(sub).Patch(ctx, object, patch, options...) })
				return err
			},
		}).Build()
	m.restart("111111111111")
	return m
}

func (m *mortal) write(do func()) {
	m.left--
	if m.left == 0 && !m.after {
		panic(death{})
	}
	do()
	if m.left == 0 && m.after {
		panic(death{})
	}
}

// restart begins anew, with a selector whose role is in an account.
func (m *mortal) restart(account string) {
	m.t.Helper()
	// The manager is never started: the test says what has been read.
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		m.t.Fatal(err)
	}
	m.roles = must.Get(kube.NewRoles(mgr, kube.RolesOptions{
		Options: kube.Options{Roles: roleselector.Options{NoSelector: roleselector.PolicyDeny}, Kinds: []schema.GroupVersionKind{bucketKind}},
		Base:    identity.Identity{Base: identity.WebIdentity, Region: "eu-central-1"}, Account: own,
	}))(m.t)
	chosen := selector("team-"+account, account)
	chosen.UID = "u-" + chosen.UID
	m.roles.Index().Set(roleselector.Compile(chosen))
	m.roles.Index().MarkSynced(roleselector.Everything)
	m.roles.Objects().PutNamespace("prod", nil)
}

func accountOf(as identity.Identity) string { return strings.Split(as.RoleARN(), ":")[4] }

func (m *mortal) look(_ context.Context, as identity.Identity, _ *unstructured.Unstructured) (bool, error) {
	return m.buckets[accountOf(as)], nil
}

func (m *mortal) make(_ context.Context, as identity.Identity, _ *unstructured.Unstructured) error {
	m.write(func() {
		if !m.buckets[accountOf(as)] {
			m.made++
		}
		m.buckets[accountOf(as)] = true
	})
	return nil
}

func (m *mortal) remove(_ context.Context, as identity.Identity, _ *unstructured.Unstructured) error {
	m.write(func() { delete(m.buckets, accountOf(as)) })
	return nil
}

// settle runs the controller until it waits, or dies.
func (m *mortal) settle() (died bool) {
	m.t.Helper()
	r := &bucketReconciler{client: m.client, events: events.NewFakeRecorder(100), roles: m.roles, cloud: m, account: own}
	defer func() {
		if what := recover(); what != nil {
			if _, died = what.(death); !died {
				panic(what)
			}
		}
	}()
	for range 20 {
		result := must.Get(r.Reconcile(m.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "prod", Name: "logs"}}))(m.t)
		if result.RequeueAfter != soon {
			return false
		}
	}
	m.t.Fatal("the controller never comes to rest")
	return false
}

// TestADeathBetweenAnyTwoStepsMakesOneBucket is about a process that dies at each of
// its writes, before it and after, while the selector gets a role of another account:
// there is one bucket at most, where the status says, and none once the object is gone.
func TestADeathBetweenAnyTwoStepsMakesOneBucket(t *testing.T) {
	deaths := 0
	for _, after := range []bool{false, true} {
		for step := 1; ; step++ {
			m := newMortal(t, step, after)
			if !m.settle() {
				if step < 4 {
					t.Fatalf("the controller has made %d writes only", step-1)
				}
				break // there are fewer writes than that
			}
			deaths++
			m.restart("222222222222")
			m.settle()
			m.restart("111111111111")
			m.settle()
			m.oneWhereRecorded(step, after)
			account := recordedAccount(m)
			must.Do(t, m.client.Delete(t.Context(), bucket("prod", "logs")))
			m.restart(account)
			m.settle()
			if err := m.client.Get(t.Context(), client.ObjectKey{Namespace: "prod", Name: "logs"}, newBucket()); !apierrors.IsNotFound(err) || len(m.buckets) > 0 {
				t.Errorf("death %d (after: %v): when the object was deleted there are buckets in %v, and the object: %v", step, after, m.buckets, err)
			}
		}
	}
	if deaths < 6 {
		t.Errorf("the controller died %d times, want 6 at least", deaths)
	}
}

func recordedAccount(m *mortal) string {
	m.t.Helper()
	found := newBucket()
	must.Do(m.t, m.client.Get(m.t.Context(), client.ObjectKey{Namespace: "prod", Name: "logs"}, found))
	account, _, _ := unstructured.NestedString(found.Object, "status", "ackResourceMetadata", "ownerAccountID")
	return account
}

func (m *mortal) oneWhereRecorded(step int, after bool) {
	m.t.Helper()
	if account := recordedAccount(m); m.made != 1 || len(m.buckets) != 1 || !m.buckets[account] {
		m.t.Errorf("death %d (after: %v): made %d times, there are buckets in %v, and the status says %q", step, after, m.made, m.buckets, account)
	}
}
