package hubaccess

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	testHub    = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	testSpoke  = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	testSuffix = "141fc72f17164e5a28c2b4e384694bae"
)

// shown is a cache that shows some objects.
type shown struct {
	cache.Cache
	client.Reader
}

func (s shown) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return s.Reader.Get(ctx, key, o, options...)
}

func (s shown) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return s.Reader.List(ctx, list, options...)
}

func managedCluster(name string, accepted bool) *unstructured.Unstructured {
	out := newObject(clusterKind)
	out.SetName(name)
	out.SetAnnotations(map[string]string{hub.ARNAnnotation: testSpoke, hub.SuffixAnnotation: testSuffix, "theirs": "too"})
	out.Object["spec"] = map[string]any{"hubAcceptsClient": accepted, "leaseDurationSeconds": int64(60)}
	return out
}

// TestACacheThatIsBehindHidesNoOtherCluster: a pass that has read past the cache that its
// cluster is accepted waits until the cache shows it, and with it all that were accepted
// before.
func TestACacheThatIsBehindHidesNoOtherCluster(t *testing.T) {
	scheme := runtime.NewScheme()
	must.Do(t, v1alpha1.AddToScheme(scheme))
	setting := hub.Setting{IAM: hub.On, Hub: must.Get(hub.ParseARN(testHub))(t)}
	world := core.World{Name: "one", Setting: setting, Cluster: clusterOf(managedCluster("one", true))}
	record := &v1alpha1.HubAccess{Spec: v1alpha1.HubAccessSpec{ClusterUID: "uid", Access: &v1alpha1.ClusterAccess{Suffix: testSuffix}}}
	record.Name = "three"
	tests := map[string]struct {
		objects []client.Object
		behind  bool
		others  int
	}{
		"it shows nothing":                       {nil, true, 0},
		"it shows the cluster before acceptance": {[]client.Object{managedCluster("one", false)}, true, 0},
		"it shows the other alone":               {[]client.Object{managedCluster("two", true)}, true, 0},
		"it shows the cluster":                   {[]client.Object{managedCluster("one", true)}, false, 1},
		"it shows both":                          {[]client.Object{managedCluster("one", true), managedCluster("two", true)}, false, 2},
		"it shows one that is not accepted":      {[]client.Object{managedCluster("one", true), managedCluster("two", false)}, false, 1},
		"it shows a record without a cluster":    {[]client.Object{managedCluster("one", true), record}, false, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			index := func(o client.Object) []string { return []string{suffixOf(o)} }
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.objects...).
				WithIndex(newObject(clusterKind), suffixIndex, index).WithIndex(&v1alpha1.HubAccess{}, suffixIndex, index).Build()
			c := &Controller{cache: shown{Reader: reader}}
			got, err := c.others(t.Context(), world)
			if errors.Is(err, errBehind) != test.behind || (err != nil) != test.behind || len(got) != test.others {
				t.Errorf("the others are %+v, %v", got, err)
			}
		})
	}
}

// TestAClusterThatClaimsNothingWaitsForNoCache: annotations that came after the acceptance
// are no claim, for the cluster itself and for the others.
func TestAClusterThatClaimsNothingWaitsForNoCache(t *testing.T) {
	scheme := runtime.NewScheme()
	must.Do(t, v1alpha1.AddToScheme(scheme))
	record := &v1alpha1.HubAccess{Spec: v1alpha1.HubAccessSpec{AcceptedAnnotations: "None"}}
	record.Name = "mean"
	index := func(o client.Object) []string { return []string{suffixOf(o)} }
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(managedCluster("mean", true), managedCluster("spoke", true), record).
		WithIndex(newObject(clusterKind), suffixIndex, index).WithIndex(&v1alpha1.HubAccess{}, suffixIndex, index).Build()
	c := &Controller{cache: shown{Reader: reader}}
	world := core.World{Name: "mean", Setting: hub.Setting{IAM: hub.On, Hub: must.Get(hub.ParseARN(testHub))(t)}, Cluster: clusterOf(managedCluster("mean", true)), Record: record}
	if others, err := c.others(t.Context(), world); err != nil || len(others) != 0 {
		t.Errorf("the others of a cluster that claims nothing are %+v, %v", others, err)
	}
	world.Name, world.Record = "spoke", nil
	if others, err := c.others(t.Context(), world); err != nil || len(others) != 1 || others[0].Name != "spoke" {
		t.Errorf("the others of the spoke are %+v, %v", others, err)
	}
}

// TestTrimLeavesWhatADecisionGoesBy and nothing that an agent reports.
func TestTrimLeavesWhatADecisionGoesBy(t *testing.T) {
	full := managedCluster("one", true)
	full.SetUID("uid")
	full.SetFinalizers([]string{core.Finalizer})
	full.Object["status"] = map[string]any{"version": "v1"}
	before := clusterOf(full)
	trimmed := must.Get(trim(full.DeepCopy()))(t).(*unstructured.Unstructured) //nolint:forcetypeassert // it is what was given
	after := clusterOf(trimmed)
	if after.UID != before.UID || !after.Held || !after.Accepted || after.Annotations[hub.SuffixAnnotation] != testSuffix || suffixOf(trimmed) != testSuffix {
		t.Errorf("what is left is %+v", trimmed.Object)
	}
	if trimmed.Object["status"] != nil || trimmed.GetAnnotations()["theirs"] != "" {
		t.Errorf("what is left is %+v", trimmed.Object)
	}
}

// TestWhatAnAgentReportsWakesNobody, and what an administrator decides does.
func TestWhatAnAgentReportsWakesNobody(t *testing.T) {
	was := managedCluster("one", false)
	tests := map[string]struct {
		change func(*unstructured.Unstructured)
		want   bool
	}{
		"a status":       {func(o *unstructured.Unstructured) { o.Object["status"] = map[string]any{"a": "b"} }, false},
		"a label":        {func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) }, false},
		"a finalizer":    {func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"a"}) }, false},
		"the acceptance": {func(o *unstructured.Unstructured) { o.Object["spec"] = map[string]any{"hubAcceptsClient": true} }, true},
		"the suffix":     {func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{hub.SuffixAnnotation: "x"}) }, true},
		"another life":   {func(o *unstructured.Unstructured) { o.SetUID("other") }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := was.DeepCopy()
			test.change(now)
			if got := hasNews(event.UpdateEvent{ObjectOld: was, ObjectNew: now}); got != test.want {
				t.Errorf("it wakes: %t, want %t", got, test.want)
			}
		})
	}
}

// regarded keeps what an event is about.
type regarded struct{ of runtime.Object }

func (r *regarded) Eventf(regarding, _ runtime.Object, _, _, _, _ string, _ ...any) { r.of = regarding }

// TestEventsAreTheClusters: what is told of a HubAccess is told of its ManagedCluster.
func TestEventsAreTheClusters(t *testing.T) {
	record := &v1alpha1.HubAccess{Spec: v1alpha1.HubAccessSpec{ClusterUID: "uid"}}
	record.Name = "one"
	kept := &regarded{}
	onCluster{kept}.Eventf(record, nil, "Warning", "RoleNotOurs", "Ready", "%s", "text")
	if got, is := kept.of.(*corev1.ObjectReference); !is || got.Kind != "ManagedCluster" || got.Name != "one" || got.UID != "uid" {
		t.Errorf("the event is about %+v", kept.of)
	}
}

// TestLooksOfOneClusterAreApart, so that its agent cannot spend the account's calls.
func TestLooksOfOneClusterAreApart(t *testing.T) {
	now := time.Unix(1000, 0)
	l := &looks{now: func() time.Time { return now }}
	if l.wait("one") != 0 || l.wait("two") != 0 {
		t.Error("the first look waits")
	}
	if now = now.Add(500 * time.Millisecond); l.wait("one") != 1500*time.Millisecond {
		t.Errorf("the second waits %s", l.wait("one"))
	}
	if now = now.Add(1500 * time.Millisecond); l.wait("one") != 0 {
		t.Error("it waits after two seconds")
	}
	l.forget("one")
	if l.wait("one") != 0 {
		t.Error("one that was forgotten waits")
	}
}
