package hubaccess

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/outage"
)

// throttled is AWS without roles and entries. It throttles changes, and looks if it is to.
type throttled struct {
	Roles
	Entries
	call  func() error
	looks bool
}

func (a throttled) Caller(context.Context, identity.Identity) (account, arn string, err error) {
	return "111111111111", "", nil
}

func (a throttled) GetBare(context.Context, identity.Identity, string) (out cloud.BareRole, err error) {
	if a.looks {
		err = a.call()
	}
	return out, err
}

func (a throttled) Get(context.Context, identity.Identity, cloud.AccessEntryRef) (out cloud.AccessEntry, err error) {
	return out, nil
}

func (a throttled) CreateBare(context.Context, identity.Identity, cloud.RoleWant, cloud.Tag) (string, error) {
	return "AROA1", a.call()
}

func (a throttled) Create(context.Context, identity.Identity, cloud.AccessEntryRef, cloud.AccessEntryWant, cloud.Tag) error {
	return a.call()
}

// unnamed has each key's pass made for the cluster "one".
type unnamed struct{ *Controller }

func (u unnamed) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	return u.Controller.Reconcile(ctx, requestFor("one"))
}

// waited are the passes over an accepted cluster, with or without the record of its access.
func waited(t *testing.T, aws throttled, recorded bool) *controller.Paced[reconcile.Request] {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Do(t, v1alpha1.AddToScheme(scheme))
	setting := hub.Setting{IAM: hub.On, Hub: must.Get(hub.ParseARN(testHub))(t)}
	cluster := managedCluster("one", true)
	cluster.SetUID("uid")
	cluster.SetFinalizers([]string{core.Finalizer})
	objects := []client.Object{cluster}
	if recorded {
		objects = append(objects, &v1alpha1.HubAccess{
			ObjectMeta: metav1.ObjectMeta{Name: "one", Finalizers: []string{core.Finalizer}},
			Spec: v1alpha1.HubAccessSpec{ClusterUID: "uid", Access: &v1alpha1.ClusterAccess{
				HubARN: testHub, ManagedClusterARN: testSpoke, Suffix: testSuffix, Username: "one",
				RoleARN: setting.Hub.RoleARN(hub.RoleName(testSuffix)),
			}},
		})
	}
	index := func(o client.Object) []string { return []string{suffixOf(o)} }
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.HubAccess{}).Build()
	behind := fake.NewClientBuilder().WithScheme(scheme).WithIndex(newObject(clusterKind), suffixIndex, index).
		WithIndex(&v1alpha1.HubAccess{}, suffixIndex, index).WithObjects(managedCluster("one", false)).Build()
	options := Options{AWS: AWS{Accounts: aws, Roles: aws, Entries: aws}, Now: time.Now}
	kit := controller.Kit{
		Client: server, Live: server, Events: events.NewFakeRecorder(10000), Finalizer: core.Finalizer, Owner: "tabard.hubaccess",
		Metrics: controller.NewMetrics(prometheus.NewRegistry(), Name),
	}
	return controller.Measured(kit.Metrics, unnamed{&Controller{
		kit: kit, cache: shown{Reader: behind}, options: options, looks: &looks{now: time.Now}, account: &ownAccount{options: options},
		settings: &settings{now: time.Now, known: setting, until: time.Now().Add(24 * time.Hour)},
		writes:   rate.NewLimiter(rate.Inf, 1),
	}})
}

// TestAnHourOfThrottling has AWS throttle what is asked of it, and changes alone.
func TestAnHourOfThrottling(t *testing.T) {
	for name, looks := range map[string]bool{"looks": true, "changes": false} {
		t.Run(name, func(t *testing.T) {
			outage.Check(t, func(aws *outage.AWS) outage.Paced[reconcile.Request] {
				return waited(t, throttled{call: aws.Call, looks: looks}, true)
			})
		})
	}
}

// TestAPassThatWaitsEndsNoBackoff: one that comes before the time of the next look, and
// one that waits for the cache.
func TestAPassThatWaitsEndsNoBackoff(t *testing.T) {
	for name, recorded := range map[string]bool{"for the next look": true, "for the cache": false} {
		t.Run(name, func(t *testing.T) {
			busy := fault.Fault{Class: fault.Throttled, Service: "IAM", Operation: "CreateRole"}
			passes, key := waited(t, throttled{call: func() error { return busy }}, recorded), requestFor("one")
			if recorded {
				if _, err := passes.Reconcile(t.Context(), key); err == nil {
					t.Fatal("AWS throttles, and the pass has no error")
				}
			}
			passes.When(key)
			result, err := passes.Reconcile(t.Context(), key)
			if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > between {
				t.Fatalf("the pass ended with %+v, %v, want that it waits", result, err)
			}
			if passes.Forget(key); passes.NumRequeues(key) != 1 {
				t.Errorf("%d failures are known, want 1", passes.NumRequeues(key))
			}
		})
	}
}
