package hubaccess

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestARecordThatGoesWaitsForNoCache: which other clusters claim the suffix counts only
// for one that is to be given access.
func TestARecordThatGoesWaitsForNoCache(t *testing.T) {
	scheme := runtime.NewScheme()
	must.Do(t, v1alpha1.AddToScheme(scheme))
	setting := hub.Setting{IAM: hub.On, Hub: must.Get(hub.ParseARN(testHub))(t)}
	index := func(o client.Object) []string { return []string{suffixOf(o)} }
	behind := fake.NewClientBuilder().WithScheme(scheme).WithIndex(newObject(clusterKind), suffixIndex, index).
		WithIndex(&v1alpha1.HubAccess{}, suffixIndex, index).WithObjects(managedCluster("one", false)).Build()
	for name, goes := range map[string]bool{"it stays": false, "it goes": true} {
		t.Run(name, func(t *testing.T) {
			cluster := managedCluster("one", true)
			cluster.SetUID("uid")
			record := &v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "one", Finalizers: []string{core.Finalizer}}}
			record.Spec.ClusterUID = "uid"
			if goes {
				record.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			c := &Controller{
				kit:   controller.Kit{Live: fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster, record).Build()},
				cache: shown{Reader: behind}, options: Options{Now: time.Now},
				settings: &settings{now: time.Now, known: setting, until: time.Now().Add(time.Hour)},
			}
			world, err := c.observe(t.Context(), "one")
			if errors.Is(err, errBehind) == goes || err != nil && goes || core.IsOver(world.Record, world.Cluster) != goes {
				t.Errorf("the pass observes %+v, %v", world, err)
			}
		})
	}
}
