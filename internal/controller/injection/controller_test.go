package injection_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/controller/injection"
	core "github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/testkit"
)

const roleAnnotation = "eks.amazonaws.com/role-arn"

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// fixture is the controller on a real API server, with the rights that the operator
// has by config/rbac/injection.yaml and config/manifests/operator.yaml.
type fixture struct {
	api      *testkit.APIServer
	scheme   *runtime.Scheme
	cluster  client.Client
	registry *prometheus.Registry
}

func serve(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{api: testkit.StartAPIServer(t, "https://issuer.example.com"), scheme: runtime.NewScheme()}
	if err := clientgoscheme.AddToScheme(f.scheme); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.cluster, err = client.New(f.api.Config, client.Options{Scheme: f.scheme}); err != nil {
		t.Fatal(err)
	}
	f.apply(t, "manifests/00-namespace.yaml", "Namespace")
	f.apply(t, "rbac/injection.yaml", "ClusterRole")
	f.apply(t, "manifests/operator.yaml", "ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding")
	f.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, account("app", true), account("plain", false))
	return f
}

// apply creates the objects of these kinds of a file of config.
func (f *fixture) apply(t *testing.T, file string, kinds ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Root(), "config", file))
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if slices.Contains(kinds, object.GetKind()) {
			f.create(t, object)
		}
	}
}

func (f *fixture) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	testkit.Create(t, f.cluster, objects...)
}

func (f *fixture) patch(t *testing.T, object client.Object, text string) {
	t.Helper()
	if err := f.cluster.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

// run runs the controller as the shipped Deployment does, with or without its lease,
// until the test ends or what it returns is called.
func (f *fixture) run(t *testing.T, elect bool) (stop func()) {
	t.Helper()
	config := rest.CopyConfig(f.api.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:tabard-system:tabard-operator",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:tabard-system", "system:authenticated"}}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: f.scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(),
		LeaderElection: elect, LeaderElectionID: "tabard-operator-injection", LeaderElectionNamespace: "tabard-system", LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.registry = prometheus.NewRegistry()
	options := injection.Options{
		Settings: core.Defaults(), Namespace: "tabard-system", Instance: "test", Every: 100 * time.Millisecond, Metrics: injection.NewMetrics(f.registry),
	}
	if err := injection.Add(mgr, options); err != nil {
		t.Fatal(err)
	}
	return testkit.RunManager(t, mgr)
}

func account(name string, annotated bool) *corev1.ServiceAccount {
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	if annotated {
		made.Annotations = map[string]string{roleAnnotation: "arn:aws:iam::111122223333:role/app"}
	}
	return made
}

func podOf(account, name string, volumes ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.PodSpec{ServiceAccountName: account, Containers: []corev1.Container{{Name: "main", Image: "x"}}},
	}
	for _, volume := range volumes {
		token := &corev1.ServiceAccountTokenProjection{Audience: "sts.amazonaws.com", Path: "token"}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
			Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: token}}},
		}})
	}
	return pod
}

// awaitCount waits until the metric of the namespace says this.
func (f *fixture) awaitCount(t *testing.T, want int) {
	t.Helper()
	testkit.Await(t, func() error {
		families, err := f.registry.Gather()
		if err != nil {
			return err
		}
		for _, family := range families {
			for _, series := range family.GetMetric() {
				if family.GetName() == "tabard_injection_pods_without_identity" && series.GetLabel()[0].GetValue() == "shop" && series.GetGauge().GetValue() == float64(want) {
					return nil
				}
			}
		}
		return fmt.Errorf("the metrics are %v, want %d pods in shop", families, want)
	})
}

func awaitAge(t *testing.T, pod *corev1.Pod, age time.Duration) {
	t.Helper()
	testkit.Await(t, func() error {
		if now := time.Since(pod.CreationTimestamp.Time); now <= age {
			return fmt.Errorf("pod %s is %s old, want more than %s", pod.Name, now, age)
		}
		return nil
	})
}

// events are all that were made, by the name of the pod.
func (f *fixture) events(t *testing.T) map[string]eventsv1.Event {
	t.Helper()
	var list eventsv1.EventList
	if err := f.cluster.List(t.Context(), &list, client.InNamespace("shop")); err != nil {
		t.Fatal(err)
	}
	found := map[string]eventsv1.Event{}
	for _, each := range list.Items {
		if _, twice := found[each.Regarding.Name]; twice {
			t.Errorf("pod %s has two events", each.Regarding.Name)
		}
		found[each.Regarding.Name] = each
	}
	return found
}

func (f *fixture) awaitEvent(t *testing.T, pod *corev1.Pod, saying string) eventsv1.Event {
	t.Helper()
	var found eventsv1.Event
	testkit.Await(t, func() error {
		found = f.events(t)[pod.Name]
		if found.Regarding.UID != pod.UID {
			return fmt.Errorf("pod %s has the event %+v", pod.Name, found)
		}
		return nil
	})
	if found.Type != corev1.EventTypeWarning || found.Reason != "IdentityMissing" || !strings.Contains(found.Note, saying) {
		t.Errorf("the event of %s is %s %s: %s\nwant Warning IdentityMissing: …%s…", pod.Name, found.Type, found.Reason, found.Note, saying)
	}
	return found
}

func TestAPodThatWasLetThroughIsReportedOnce(t *testing.T) {
	f := serve(t)
	missed, injected, foreign := podOf("app", "missed"), podOf("app", "injected", "aws-iam-token"), podOf("plain", "plain")
	skipped := podOf("app", "skipped")
	skipped.Labels = map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}
	f.create(t, missed, injected, foreign, skipped)
	stop := f.run(t, true)
	f.awaitCount(t, 1)
	first := f.awaitEvent(t, missed, "recreate the pod: kubectl -n shop delete pod missed")

	// A second pod shows that passes have been made since.
	second := podOf("app", "second")
	f.create(t, second)
	f.awaitCount(t, 2)
	f.awaitEvent(t, second, "Probably the webhook did not answer")
	stop()
	f.run(t, false)
	third := podOf("app", "third")
	f.create(t, third)
	f.awaitCount(t, 3)
	f.awaitEvent(t, third, "")
	if again := f.awaitEvent(t, missed, ""); again.ResourceVersion != first.ResourceVersion || len(f.events(t)) != 3 {
		t.Errorf("the event was written again, or there are others: version %s, before %s; %d events, want 3", again.ResourceVersion, first.ResourceVersion, len(f.events(t)))
	}

	// What is over, and what is gone, does not count.
	if err := f.cluster.Status().Patch(t.Context(), third, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Succeeded"}}`))); err != nil {
		t.Fatal(err)
	}
	f.awaitCount(t, 2)
	for _, pod := range []*corev1.Pod{missed, second} {
		if err := f.cluster.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
	}
	f.awaitCount(t, 0)
}

// TestAPodOlderThanTheAnnotationIsToldSo: of the one ServiceAccount the API server
// notes who changed what; of the other, which was created without any field, it does
// not, and what the controller saw counts.
func TestAPodOlderThanTheAnnotationIsToldSo(t *testing.T) {
	f := serve(t)
	labelled := account("labelled", false)
	labelled.Labels = map[string]string{"a": "b"}
	f.create(t, labelled)
	old, older := podOf("labelled", "old"), podOf("plain", "older")
	f.create(t, older, old)
	annotate := func(name string) {
		f.patch(t, account(name, false), `{"metadata":{"annotations":{"`+roleAnnotation+`":"arn:aws:iam::111122223333:role/app"}}}`)
	}
	awaitAge(t, old, time.Second) // an API server notes times in seconds
	annotate("labelled")
	f.run(t, false)
	f.awaitCount(t, 1)
	f.awaitEvent(t, old, "the pod was created before the ServiceAccount was annotated")
	awaitAge(t, older, 6*time.Second) // clocks may differ by seconds
	annotate("plain")
	f.awaitCount(t, 2)
	f.awaitEvent(t, older, "This is because the pod was created before the ServiceAccount was annotated")
}

// TestHooksDecideWhoIsReported: a namespace that the webhook is not asked about has no
// pods that it has missed.
func TestHooksDecideWhoIsReported(t *testing.T) {
	f := serve(t)
	f.run(t, false)
	f.create(t, podOf("app", "missed"))
	f.awaitCount(t, 1)
	path, none := "/mutate", admissionv1.SideEffectClassNone
	f.create(t, &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "pod-identity.tabard.dev", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "tabard-system", Name: "tabard-webhook", Path: &path}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "on"}},
		}},
	})
	f.awaitCount(t, 0)
	f.patch(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, `{"metadata":{"labels":{"team":"on"}}}`)
	f.awaitCount(t, 1)
}
