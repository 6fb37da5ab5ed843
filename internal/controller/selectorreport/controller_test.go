package selectorreport_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/selectorreport"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// fixture is the controller on a real API server, with the rights that it has in a
// cluster, and with those to list buckets but no queues.
type fixture struct {
	api     *testkit.APIServer
	scheme  *runtime.Scheme
	cluster client.Client
}

func serve(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{api: testkit.StartAPIServer(t, "https://issuer.example.com"), scheme: runtime.NewScheme()}
	f.api.InstallCRDs(t)
	f.api.InstallCRDsFrom(t, "testdata/kinds.yaml")
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, services.AddToScheme} {
		must.Do(t, add(f.scheme))
	}
	var err error
	if f.cluster, err = client.New(f.api.Config, client.Options{Scheme: f.scheme}); err != nil {
		t.Fatal(err)
	}
	f.give(t, testkit.Rights(t, "selectorreport"))
	f.give(t, readerOf("s3.services.k8s.aws", "buckets"))
	return f
}

func readerOf(group, resource string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "read-" + resource},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"list", "watch"}}},
	}
}

// give gives the controller a role's rights.
func (f *fixture) give(t *testing.T, role *rbacv1.ClusterRole) {
	t.Helper()
	testkit.Grant(t, f.api.Config, "selectorreport", role)
}

func (f *fixture) run(t *testing.T) {
	t.Helper()
	config := rest.CopyConfig(f.api.Config)
	config.Impersonate.UserName = "selectorreport"
	mgr := must.Get(ctrl.NewManager(config, ctrl.Options{Scheme: f.scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard()}))(t)
	selectors := must.Get(kube.New(mgr, kube.Options{Kinds: []schema.GroupVersionKind{{Group: "machine.openshift.io", Version: "v1beta1", Kind: "MachineSet"}}}))(t)
	options := selectorreport.Options{Selectors: selectors, Every: 100 * time.Millisecond, Probe: 200 * time.Millisecond}
	must.Do(t, selectorreport.Add(mgr, options))
	testkit.RunManager(t, mgr)
}

func (f *fixture) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	testkit.Create(t, f.cluster, objects...)
}

func resource(group, kind, namespace, name string, labels map[string]string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: kind})
	out.SetNamespace(namespace)
	out.SetName(name)
	out.SetLabels(labels)
	return out
}

func bucket(namespace, name string) *unstructured.Unstructured {
	return resource("s3.services.k8s.aws", "Bucket", namespace, name, nil)
}

func team(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}}
}

// byTeam selects namespaces by their label.
func byTeam(name string, teams ...string) *services.IAMRoleSelector {
	return &services.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: &services.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::111122223333:role/" + name,
			NamespaceSelector: &services.NamespaceSelector{LabelSelector: &services.LabelSelector{
				MatchExpressions: []services.LabelRequirement{{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: teams}},
			}},
		},
	}
}

// awaitReport waits until the report of a selector, which belongs to it, says this.
func (f *fixture) awaitReport(t *testing.T, of *services.IAMRoleSelector, n v1alpha1.SelectorCounts, places ...v1alpha1.ReportedResources) *v1alpha1.IAMRoleSelectorReport {
	t.Helper()
	want := v1alpha1.IAMRoleSelectorReportStatus{
		SelectorUID: of.UID, SelectorGeneration: of.Generation, SelectorCounts: n, Resources: places,
	}
	var report v1alpha1.IAMRoleSelectorReport
	testkit.Await(t, func() error {
		report = v1alpha1.IAMRoleSelectorReport{}
		if err := f.cluster.Get(t.Context(), client.ObjectKey{Name: of.Name}, &report); err != nil {
			return err
		}
		if diff := cmp.Diff(want, report.Status); diff != "" {
			return fmt.Errorf("the report of %s (-want +got):\n%s", of.Name, diff)
		}
		return nil
	})
	wantOwner := []metav1.OwnerReference{{APIVersion: "services.k8s.aws/v1alpha1", Kind: "IAMRoleSelector", Name: of.Name, UID: of.UID}}
	if diff := cmp.Diff(wantOwner, report.OwnerReferences); diff != "" {
		t.Errorf("owners of the report of %s (-want +got):\n%s", of.Name, diff)
	}
	return &report
}

func buckets(namespace string, n v1alpha1.SelectorCounts) v1alpha1.ReportedResources {
	return v1alpha1.ReportedResources{Group: "s3.services.k8s.aws", Kind: "Bucket", Namespace: namespace, SelectorCounts: n}
}

func TestEachSelectorHasAReportOfWhoUsesIt(t *testing.T) {
	f := serve(t)
	a, b := byTeam("a", "a"), byTeam("b", "b")
	f.create(t, team("a"), team("b"), a, b)
	f.create(t, bucket("a", "1"), bucket("a", "2"), bucket("b", "3"), resource("sqs.services.k8s.aws", "Queue", "a", "q", nil))
	f.run(t)
	two, one := v1alpha1.SelectorCounts{Used: 2}, v1alpha1.SelectorCounts{Used: 1}
	f.awaitReport(t, a, two, buckets("a", two))
	written := f.awaitReport(t, b, one, buckets("b", one))

	// A change of a namespace's labels is a change of the decisions.
	torn := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	f.patch(t, torn, `{"metadata":{"labels":{"team":"b"}}}`)
	f.awaitReport(t, a, v1alpha1.SelectorCounts{})
	three := v1alpha1.SelectorCounts{Used: 3}
	f.awaitReport(t, b, three, buckets("a", two), buckets("b", one))
	f.patch(t, torn, `{"metadata":{"labels":{"team":"a"}}}`)
	again := f.awaitReport(t, a, two, buckets("a", two))

	// What is not different is not written.
	f.create(t, bucket("b", "4"))
	f.awaitReport(t, b, two, buckets("b", two))
	if now := f.awaitReport(t, a, two, buckets("a", two)); now.ResourceVersion != again.ResourceVersion {
		t.Errorf("the report of a was written again: version %s, and %s before", now.ResourceVersion, again.ResourceVersion)
	}
	for _, entry := range written.ManagedFields {
		if entry.Manager != "tabard.selectorreport" || entry.Operation != metav1.ManagedFieldsOperationApply {
			t.Errorf("the report is owned by %s with %s, want tabard.selectorreport with Apply alone", entry.Manager, entry.Operation)
		}
	}

	both := byTeam("both", "a", "b")
	f.create(t, both)
	conflicts := v1alpha1.SelectorCounts{Conflicts: 2}
	f.awaitReport(t, a, conflicts, buckets("a", conflicts))
	f.awaitReport(t, both, v1alpha1.SelectorCounts{Conflicts: 4}, buckets("a", conflicts), buckets("b", conflicts))
	f.remove(t, both)
	f.awaitReport(t, a, two, buckets("a", two))
	testkit.Await(t, func() error {
		err := f.cluster.Get(t.Context(), client.ObjectKey{Name: "both"}, &v1alpha1.IAMRoleSelectorReport{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the report of a selector that is gone: %w, want that it is not found", err)
		}
		return nil
	})

	// The right to list a kind comes later.
	f.give(t, readerOf("sqs.services.k8s.aws", "queues"))
	f.awaitReport(t, a, three, buckets("a", two), v1alpha1.ReportedResources{
		Group: "sqs.services.k8s.aws", Kind: "Queue", Namespace: "a", SelectorCounts: one,
	})
	f.remove(t, bucket("a", "1"))
	f.remove(t, a)
	renewed := byTeam("a", "a")
	f.create(t, renewed)
	f.awaitReport(t, renewed, two, buckets("a", one), v1alpha1.ReportedResources{
		Group: "sqs.services.k8s.aws", Kind: "Queue", Namespace: "a", SelectorCounts: one,
	})
}

func (f *fixture) patch(t *testing.T, object client.Object, text string) {
	t.Helper()
	must.Do(t, f.cluster.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))))
}

func (f *fixture) remove(t *testing.T, object client.Object) {
	t.Helper()
	must.Do(t, f.cluster.Delete(t.Context(), object))
}
