package capacity_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/controller/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// testServed: with none, then one machine API, then both, then another version.
func testServed(t *testing.T, f *fixture) {
	told := f.listen()
	f.run(t, wokenByWatchesAlone)
	told.await(t, "the kinds that are watched", `"kinds"=[] "mayNotBeListed"=[]`)
	f.api.InstallForeign(t, testkit.MachineAPI)
	set := machines(t, "first", "m5.large", "")
	f.create(t, set)
	f.awaitAnnotations(t, set, large())

	f.api.InstallForeign(t, testkit.ClusterAPI)
	f.api.ServeOnly(t, "v1beta1")
	f.api.InstallForeign(t, testkit.ClusterAPIAWS)
	old := clusterAPI{"v1beta1"}
	f.awaitAnother(t, old, "second")

	f.api.ServeOnly(t, "v1beta2")
	f.awaitAnother(t, clusterAPI{"v1beta2"}, "third")
	more := machines(t, "fourth", "m5.large", "")
	f.create(t, more)
	f.awaitAnnotations(t, more, large())
	f.checkEvents(t, set, "CapacityAnnotated")

	crd := parse(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: machinesets.machine.openshift.io}}")
	must.Do(t, f.cluster.Delete(t.Context(), crd))
	testkit.Await(t, func() error {
		if err := f.cluster.Get(t.Context(), client.ObjectKeyFromObject(crd), crd.DeepCopy()); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the kind is there still: %w", err)
		}
		return nil
	})
	f.awaitAnother(t, clusterAPI{"v1beta2"}, "fifth")
	f.api.InstallForeign(t, testkit.MachineAPI)
	last := machines(t, "sixth", "m5.large", "")
	f.create(t, last)
	f.awaitAnnotations(t, last, large())
}

func testForbidden(t *testing.T, f *fixture) {
	// What the program has whose place this one takes.
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "few"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"cluster.x-k8s.io"}, Resources: []string{"machinedeployments"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{APIGroups: []string{"infrastructure.cluster.x-k8s.io"}, Resources: []string{"awsmachinetemplates"}, Verbs: []string{"get", "list", "watch"}},
	}}
	f.user = "few"
	f.api.Grant(f.user, role)
	told := f.listen()
	f.run(t, wokenByWatchesAlone)
	f.awaitAnother(t, clusterAPI{"v1beta2"}, "alone")
	const watched = `"kinds"=["cluster.x-k8s.io/v1beta2, Kind=MachineDeployment" "infrastructure.cluster.x-k8s.io/v1beta2, Kind=AWSMachineTemplate"]`
	const refused = `"mayNotBeListed"=["MachineSet.machine.openshift.io" "MachineSet.cluster.x-k8s.io" "Infrastructure.config.openshift.io" ` +
		`"Cluster.cluster.x-k8s.io" "AWSCluster.infrastructure.cluster.x-k8s.io" "AWSManagedControlPlane.controlplane.cluster.x-k8s.io" ` +
		`"ROSAControlPlane.controlplane.cluster.x-k8s.io"]`
	told.await(t, watched, refused)
	role.Rules[0].APIGroups = append(role.Rules[0].APIGroups, "machine.openshift.io")
	role.Rules[0].Resources = append(role.Rules[0].Resources, "machinesets")
	must.Do(t, f.cluster.Update(t.Context(), role))
	told.await(t, `"machine.openshift.io/v1beta1, Kind=MachineSet"`, `"mayNotBeListed"=["Infrastructure.config.openshift.io"`)
	if got := told.count(refused); got != 1 {
		t.Errorf("what may not be listed was told %d times while it was the same, want once", got)
	}
}

// heard is what the controller has logged. It is safe for concurrent use.
type heard struct {
	mu    sync.Mutex
	lines []string
}

// listen has the controller's log kept, from its next run.
func (f *fixture) listen() *heard {
	h := &heard{}
	f.log = funcr.New(func(_, line string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lines = append(h.lines, line)
	}, funcr.Options{})
	return h
}

// await waits for a line with all of these texts.
func (h *heard) await(t *testing.T, texts ...string) {
	t.Helper()
	testkit.Await(t, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, line := range h.lines {
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
				return nil
			}
		}
		return fmt.Errorf("no line with %q among\n%s", texts, strings.Join(h.lines, "\n"))
	})
}

// count counts the lines with a text.
func (h *heard) count(text string) (out int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.lines {
		if strings.Contains(line, text) {
			out++
		}
	}
	return out
}

// testOneNamespace: what is elsewhere is left alone.
func testOneNamespace(t *testing.T, f *fixture) {
	f.user = "of-one-namespace"
	f.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}}, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tabard-capacity"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "tabard-capacity"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: f.user}},
	})
	f.run(t, wokenByWatchesAlone, func(o *capacity.Options) { o.Namespace = namespace })
	other := machines(t, "other", "m5.large", "")
	other.SetNamespace("elsewhere")
	f.create(t, other)
	f.testSecret(t)
	if got := f.reread(t, other).GetAnnotations(); len(got) != 0 {
		t.Errorf("in another namespace it has the annotations %v", got)
	}
}

// testGone: an object is deleted between the read and
// the write, which is an apply, by one who may do everything.
func testGone(t *testing.T, f *fixture) {
	admin := testkit.Binding(f.user, "cluster-admin")
	f.create(t, admin)
	t.Cleanup(func() {
		if err := f.cluster.Delete(context.WithoutCancel(t.Context()), admin); err != nil {
			t.Error(err)
		}
	})
	f.types.know("gone.large", 2, 8192, instancetype.AMD64)
	set := machines(t, "gone", "gone.large", labels+": kubernetes.io/arch=amd64")
	f.types.before = func(q instancetype.Question) {
		if q.Type == "gone.large" {
			_ = f.cluster.Delete(context.WithoutCancel(t.Context()), set.DeepCopy()) // the first of several succeeds
		}
	}
	f.run(t, wokenByWatchesAlone)
	f.create(t, set)
	f.awaitAsked(t, "gone.large", "us-west-2")
	after := machines(t, "after-gone", "m5.large", "")
	f.create(t, after)
	f.awaitAnnotations(t, after, large())
	if err := f.cluster.Get(t.Context(), client.ObjectKeyFromObject(set), set.DeepCopy()); !apierrors.IsNotFound(err) {
		t.Errorf("the object that was deleted is there again: %v", err)
	}
}

// testAuthorityFound: where the Machine API's MachineSet can say who has authority, one
// that does not say it yet is left alone.
func testAuthorityFound(t *testing.T, f *fixture) {
	f.addAuthority(t)
	t.Run("where it counts", f.testAuthority)
	t.Run("without the gate it does not count", f.testNoGate)
}

func (f *fixture) testAuthority(t *testing.T) {
	f.run(t, wokenByWatchesAlone)
	set := machines(t, "moving", "m5.large", "")
	decided := machines(t, "decided", "m5.large", "")
	f.create(t, set, decided)
	f.setStatus(t, decided, `{"status":{"authoritativeAPI":"MachineAPI"}}`)
	f.awaitAnnotations(t, decided, large())
	for _, authority := range []string{"ClusterAPI", "Migrating"} {
		f.setStatus(t, set, fmt.Sprintf(`{"status":{"authoritativeAPI":%q}}`, authority))
		f.setStatus(t, decided, `{"status":{"authoritativeAPI":"MachineAPI"}}`)
	}
	paused := `{"status":{"authoritativeAPI":"MachineAPI","conditions":[{"type":"Paused","status":%q,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	f.setStatus(t, set, fmt.Sprintf(paused, "True"))
	last := machines(t, "last", "m5.large", "")
	f.create(t, last)
	f.setStatus(t, last, `{"status":{"authoritativeAPI":"MachineAPI"}}`)
	f.awaitAnnotations(t, last, large())
	if got := f.reread(t, set).GetAnnotations(); len(got) != 0 {
		t.Errorf("it was annotated while the Machine API had no authority: %v", got)
	}
	f.setStatus(t, set, fmt.Sprintf(paused, "False"))
	f.awaitAnnotations(t, set, large())
}

func (f *fixture) testNoGate(t *testing.T) {
	f.run(t, wokenByWatchesAlone, func(o *capacity.Options) { o.Migration = new(false) })
	set := machines(t, "regardless", "m5.large", "")
	f.create(t, set)
	f.awaitAnnotations(t, set, large())
}

// addAuthority gives the MachineSet the field that clusters have which can
// migrate.
func (f *fixture) addAuthority(t *testing.T) {
	t.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	must.Do(t, f.cluster.Get(t.Context(), client.ObjectKey{Name: "machinesets.machine.openshift.io"}, crd))
	add := `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/authoritativeAPI","value":{"type":"string"}},
		{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/conditions","value":
			{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]`
	must.Do(t, f.cluster.Patch(t.Context(), crd, client.RawPatch("application/json-patch+json", []byte(add))))
	// The schema is served when a field of it is not thrown away any more.
	probe := machines(t, "probe", "m5.large", "")
	f.create(t, probe)
	testkit.Await(t, func() error {
		f.setStatus(t, probe, `{"status":{"authoritativeAPI":"ClusterAPI"}}`)
		found, _, _ := unstructured.NestedString(f.reread(t, probe).Object, "status", "authoritativeAPI")
		if found == "" {
			return fmt.Errorf("the field is not served yet")
		}
		return nil
	})
	must.Do(t, f.cluster.Delete(t.Context(), probe))
}

func (f *fixture) setStatus(t *testing.T, object *unstructured.Unstructured, status string) {
	t.Helper()
	must.Do(t, f.cluster.Status().Patch(t.Context(), object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(status))))
}

func testMany(t *testing.T, f *fixture) {
	f.run(t, wokenByWatchesAlone)
	const many = 60
	var sets []*unstructured.Unstructured
	for i := range many {
		sets = append(sets, machines(t, fmt.Sprintf("many-%03d", i), "m5.large", ""))
	}
	f.create(t, unstructuredAll(sets)...)
	for _, set := range sets {
		f.awaitAnnotations(t, set, large())
	}
	question := instancetype.Question{Type: "m5.large", Region: "us-west-2"}
	f.types.mu.Lock()
	asked := f.types.asked[question]
	f.types.mu.Unlock()
	// A pass for the creation and one for each of the two writes, of which some
	// fall together.
	if asked < 1 || asked > 3*many {
		t.Errorf("AWS was asked %d times for %d objects", asked, many)
	}
	t.Logf("%d questions for %d objects", asked, many)
}

func unstructuredAll(list []*unstructured.Unstructured) (out []client.Object) {
	for _, each := range list {
		out = append(out, each)
	}
	return out
}

// testHanging: many objects wait for it, and others are
// annotated meanwhile.
func testHanging(t *testing.T, f *fixture) {
	f.types.hangs = "ap-south-1"
	f.run(t, wokenByWatchesAlone, func(o *capacity.Options) { o.Limit = time.Hour })
	for i := range 50 {
		set := machines(t, fmt.Sprintf("hanging-%d", i), fmt.Sprintf("hanging-%d.large", i), "")
		must.Do(t, unstructured.SetNestedField(set.Object, "ap-south-1", "spec", "template", "spec", "providerSpec", "value", "placement", "region"))
		f.create(t, set)
	}
	f.awaitAsked(t, "hanging-49.large", "ap-south-1")
	set := machines(t, "quick", "m5.large", "")
	f.create(t, set)
	f.awaitAnnotations(t, set, large())
}

func testUnanswered(t *testing.T, f *fixture) {
	f.types.hangs = "us-west-2"
	f.run(t, wokenByWatchesAlone, func(o *capacity.Options) { o.Limit = 2 * time.Second })
	first, second := machines(t, "first", "m5.large", ""), machines(t, "second", "m5.large", "")
	f.create(t, first, second)
	for _, set := range []*unstructured.Unstructured{first, second} {
		f.awaitEvent(t, set, event("Warning", fromMachineAPI, "AWSRequestFailed", "AWS did not answer: EC2 DescribeInstanceTypes: no answer in time"))
	}
}
