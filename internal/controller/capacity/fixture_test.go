package capacity_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/controller/capacity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	vcpu      = "machine.openshift.io/vCPU"
	memory    = "machine.openshift.io/memoryMb"
	gpu       = "machine.openshift.io/GPU"
	labels    = "capacity.cluster-autoscaler.kubernetes.io/labels"
	cpuKey    = "capacity.cluster-autoscaler.kubernetes.io/cpu"
	memoryKey = "capacity.cluster-autoscaler.kubernetes.io/memory"
	namespace = "default"
	// account is the shipped Deployment's.
	account = "system:serviceaccount:tabard-system:tabard-capacity"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.Main(m))
}

// fixture is the controller on a real API server, with a fake of what AWS says,
// and with the rights of a user.
type fixture struct {
	api        *testkit.Cluster
	cluster    client.Client
	types      *types
	who        *credentials
	controller *capacity.Controller
	user       string
	// manager is that of the run.
	manager ctrl.Manager
	// log gets what the controller logs.
	log logr.Logger
}

// on is a fixture on a cluster that tests use one after the other.
func on(t *testing.T, api *testkit.Cluster) *fixture {
	t.Helper()
	f := &fixture{
		api: api.In(t), cluster: api, user: account,
		types: &types{known: map[string]instancetype.Type{}, faults: map[string]fault.Fault{}, asked: map[instancetype.Question]int{}, askers: map[string]identity.Identity{}},
		who:   &credentials{},
		log:   logr.Discard(),
	}
	f.types.know("m5.large", 2, 8192, instancetype.AMD64)
	f.types.know("m6g.4xlarge", 16, 65536, instancetype.ARM64)
	return f
}

// TestOnOneCluster are the tests that need an API server, in the order of what it serves:
// at first nothing, then both machine APIs, then Tabard's kinds, and at last a MachineSet
// that knows of authority. Each takes away what it has made.
func TestOnOneCluster(t *testing.T) {
	api := testkit.StartCluster(t, testkit.ClusterOptions{Issuer: "https://issuer.example.com"})
	api.Grant(account, testkit.Rights(t, "capacity"))
	api.MakeFiles("config/manifests/role-selectors/capacity.yaml")
	everything := func(t *testing.T, f *fixture) {
		f.api.InstallForeign(t, testkit.OpenShiftConfig)
		f.api.ServeOnly(t, "v1beta2")
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"kinds are watched from when they are served", testServed},
		{"objects of Cluster API in its older version", testOlder},
		{"every machine API", everything},
		{"MachineSets of the Machine API", testMachineSets},
		{"a MachineSet is woken", testWoken},
		{"objects of Cluster API", clusterAPI{"v1beta2"}.testObjects},
		{"what an administrator asks for beyond", testBeyond},
		{"many MachineSets at once", testMany},
		{"a region that hangs holds up no other", testHanging},
		{"a question without answer is told", testUnanswered},
		{"an object that goes meanwhile is not made anew", testGone},
		{"kinds that may not be listed keep no others from being watched", testForbidden},
		{"one namespace needs rights there alone", testOneNamespace},
		{"role selectors say who asks", testSelectors},
		{"the administrator's settings reach the questions to AWS", testSettings},
		{"authority is found in the schema", testAuthorityFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := on(t, api)
			test.run(t, f)
			t.Cleanup(func() { f.clear(t) })
		})
	}
}

// together is a test that runs beside those of the same group: they wait for most of their
// time, each for objects of its own.
func together(run func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		run(t)
	}
}

// clear takes away what a test has made, when its controller still runs.
func (f *fixture) clear(t *testing.T) {
	t.Helper()
	for _, kind := range []string{
		"machine.openshift.io/v1beta1 MachineSet", "cluster.x-k8s.io/v1beta2 MachineDeployment", "cluster.x-k8s.io/v1beta2 MachineSet",
		"cluster.x-k8s.io/v1beta2 Cluster", provider + "/v1beta2 AWSMachineTemplate", provider + "/v1beta2 AWSCluster",
		controlPlane + "/v1beta2 AWSManagedControlPlane", "config.openshift.io/v1 Infrastructure", "services.k8s.aws/v1alpha1 IAMRoleSelector",
	} {
		version, name, _ := strings.Cut(kind, " ")
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(version)
		object.SetKind(name)
		err := f.cluster.DeleteAllOf(context.WithoutCancel(t.Context()), object, client.InNamespace(namespace))
		if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) { // of a version that is not served

			t.Errorf("take away what there is of %s: %v", kind, err)
		}
	}
}

// run starts the controller and stops it at the end of the test.
func (f *fixture) run(t *testing.T, change ...func(*capacity.Options)) {
	t.Helper()
	mgr, err := ctrl.NewManager(f.api.As(f.user), ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Logger: f.log})
	if err != nil {
		t.Fatal(err)
	}
	f.manager = mgr
	options := capacity.Options{Probe: 200 * time.Millisecond, Sync: 100 * time.Millisecond, Types: f.types, Credentials: f.who}
	for _, each := range change {
		each(&options)
	}
	if f.controller, err = capacity.Add(mgr, options); err != nil {
		t.Fatal(err)
	}
	testkit.RunManager(t, mgr)
}

// wokenByWatchesAlone turns the regular look at all objects off.
func wokenByWatchesAlone(o *capacity.Options) { o.Sync = time.Hour }

func (f *fixture) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	testkit.Create(t, f.cluster, objects...)
}

// parse makes an object of its manifest.
func parse(t *testing.T, manifest string, args ...any) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	must.Do(t, yaml.Unmarshal(fmt.Appendf(nil, manifest, args...), &out.Object))
	out.SetNamespace(namespace)
	return out
}

// reread is the object as it is stored now.
func (f *fixture) reread(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(object.GroupVersionKind())
	must.Do(t, f.cluster.Get(t.Context(), client.ObjectKeyFromObject(object), out))
	return out
}

// patch changes the object as somebody, by a merge patch.
func (f *fixture) patch(t *testing.T, object *unstructured.Unstructured, who, text string) {
	t.Helper()
	must.Do(t, f.cluster.Patch(t.Context(), object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(text)), client.FieldOwner(who)))
}

// awaitAnnotations waits until all annotations of an object are these.
func (f *fixture) awaitAnnotations(t *testing.T, object *unstructured.Unstructured, want map[string]string) *unstructured.Unstructured {
	t.Helper()
	var now *unstructured.Unstructured
	testkit.Await(t, func() error {
		now = f.reread(t, object)
		if got := now.GetAnnotations(); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%s has the annotations %v, want %v", object.GetName(), got, want)
		}
		return nil
	})
	return now
}

// awaitEvent waits until an event of an object says this.
func (f *fixture) awaitEvent(t *testing.T, object *unstructured.Unstructured, want corev1.Event) {
	t.Helper()
	testkit.Await(t, func() error {
		var seen []string
		for _, event := range f.events(t, object) {
			if event.Type == want.Type && event.Reason == want.Reason && event.Message == want.Message && event.Source.Component == want.Source.Component {
				return nil
			}
			seen = append(seen, fmt.Sprintf("%s %s %q of %s", event.Type, event.Reason, event.Message, event.Source.Component))
		}
		return fmt.Errorf("%s has the events:\n%s\nwant %s %s %q of %s", object.GetName(), strings.Join(seen, "\n"),
			want.Type, want.Reason, want.Message, want.Source.Component)
	})
}

func (f *fixture) events(t *testing.T, object *unstructured.Unstructured) []corev1.Event {
	t.Helper()
	var list corev1.EventList
	must.Do(t, f.cluster.List(t.Context(), &list, client.InNamespace(namespace)))
	var out []corev1.Event
	for _, event := range list.Items {
		if event.InvolvedObject.UID == object.GetUID() {
			out = append(out, event)
		}
	}
	return out
}

// checkEvents compares the reasons of an object's events, each of which is to be
// there once.
func (f *fixture) checkEvents(t *testing.T, object *unstructured.Unstructured, want ...string) {
	t.Helper()
	var got []string
	for _, event := range f.events(t, object) {
		for range event.Count {
			got = append(got, event.Reason)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s has the events %q, want %q", object.GetName(), got, want)
	}
}

// awaitPasses waits until AWS was asked for a type three more times: none of these
// passes begins before the call.
func (f *fixture) awaitPasses(t *testing.T, instanceType string) {
	t.Helper()
	until := f.types.count(instanceType) + 3
	testkit.Await(t, func() error {
		if now := f.types.count(instanceType); now < until {
			return fmt.Errorf("AWS was asked for %s %d times, waiting for %d", instanceType, now, until)
		}
		return nil
	})
}

// awaitAsked waits until AWS was asked for a type in a region.
func (f *fixture) awaitAsked(t *testing.T, instanceType, region string) {
	t.Helper()
	testkit.Await(t, func() error {
		f.types.mu.Lock()
		defer f.types.mu.Unlock()
		for q := range f.types.asked {
			if q.Type == instanceType && q.Region == region {
				return nil
			}
		}
		return fmt.Errorf("AWS was not asked for %s in %s, but: %v", instanceType, region, f.types.asked)
	})
}

// types is a fake of what AWS says. It is safe for concurrent use.
type types struct {
	mu     sync.Mutex
	known  map[string]instancetype.Type
	faults map[string]fault.Fault
	asked  map[instancetype.Question]int
	// askers are who asked last, by type.
	askers map[string]identity.Identity
	// hangs is a region that never answers.
	hangs string
	// before is called with each question, before it is answered.
	before func(instancetype.Question)
}

func (a *types) know(name string, cpus, mebibytes int64, architecture string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[name] = instancetype.Type{Name: name, VCPUs: cpus, MemoryMiB: mebibytes, Architecture: architecture}
}

func (a *types) fail(name string, f fault.Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults[name] = f
}

func (a *types) recover(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.faults, name)
}

func (a *types) count(instanceType string) (out int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for q, n := range a.asked {
		if q.Type == instanceType {
			out += n
		}
	}
	return out
}

// Get implements capacity.Types.
func (a *types) Get(ctx context.Context, who identity.Identity, q instancetype.Question) (instancetype.Answer, error) {
	a.mu.Lock()
	a.asked[q]++
	a.askers[q.Type] = who
	known, ok := a.known[q.Type]
	failed, fails := a.faults[q.Type]
	hangs := a.hangs != "" && q.Region == a.hangs
	before, like := a.before, q.Like.In(maps.Values(a.known))
	a.mu.Unlock()
	if before != nil {
		before(q)
	}
	switch {
	case hangs:
		<-ctx.Done()
		return instancetype.Answer{}, fault.Fault{Class: fault.Retry, Service: "EC2", Operation: "DescribeInstanceTypes", Message: "no answer in time"}
	case fails:
		return instancetype.Answer{}, failed
	case !ok:
		return instancetype.Answer{State: instancetype.Unknown}, nil
	}
	return instancetype.Answer{State: instancetype.Found, Type: known, Like: like}, nil
}

// credentials is a fake of who asks. It is safe for concurrent use.
type credentials struct {
	mu      sync.Mutex
	problem map[string]string
}

// set says what is wrong with a Secret, empty for nothing.
func (c *credentials) set(secret, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.problem == nil {
		c.problem = map[string]string{}
	}
	c.problem[secret] = problem
}

// For implements capacity.Credentials.
func (c *credentials) For(_ context.Context, claim capacity.Claim) (identity.Identity, core.Credentials, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return identity.Identity{Base: identity.WebIdentity}, core.Credentials{Method: "a test", Problem: c.problem[claim.Secret]}, nil
}
