package injection_test

import (
	"fmt"
	"os"
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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/controller/injection"
	core "github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const roleAnnotation = "eks.amazonaws.com/role-arn"

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testkit.Main(m))
}

// shared is a real API server, on which the controller has the rights that the operator has
// by config/rbac/injection.yaml and config/manifests/operator.yaml.
var shared = testkit.SharedCluster(testkit.ClusterOptions{Issuer: "https://issuer.example.com"}, func(c *testkit.Cluster) {
	c.MakeFiles("config/manifests/00-namespace.yaml", "config/rbac/injection.yaml")
	for _, object := range testkit.Objects(c, "config/manifests/operator.yaml") {
		if slices.Contains([]string{"ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding"}, object.GetObjectKind().GroupVersionKind().Kind) {
			c.Make(object)
		}
	}
})

// fixture is the controller on it, and a namespace.
type fixture struct {
	*testkit.Cluster
	shop     string
	registry *prometheus.Registry
}

func serve(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Cluster: shared(t)}
	f.shop = f.NewNamespace()
	f.Make(f.account("app", true), f.account("plain", false))
	return f
}

// run runs the controller as the shipped Deployment does, with or without its lease,
// until the test ends or what it returns is called.
func (f *fixture) run(t *testing.T, elect bool) (stop func()) {
	t.Helper()
	mgr, err := ctrl.NewManager(f.As("system:serviceaccount:tabard-system:tabard-operator"), ctrl.Options{
		Scheme: f.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(),
		LeaderElection: elect, LeaderElectionID: "tabard-operator-injection", LeaderElectionNamespace: "tabard-system", LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.registry = prometheus.NewRegistry()
	options := injection.Options{
		Settings: core.Defaults(), Namespace: "tabard-system", Instance: "test", Every: 100 * time.Millisecond, Metrics: injection.NewMetrics(f.registry),
	}
	must.Do(t, injection.Add(mgr, options))
	return testkit.RunManager(t, mgr)
}

func (f *fixture) account(name string, annotated bool) *corev1.ServiceAccount {
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.shop, Name: name}}
	if annotated {
		made.Annotations = map[string]string{roleAnnotation: "arn:aws:iam::111122223333:role/app"}
	}
	return made
}

func (f *fixture) podOf(account, name string, volumes ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.shop, Name: name},
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
				if family.GetName() == "tabard_injection_pods_without_identity" && series.GetLabel()[0].GetValue() == f.shop && series.GetGauge().GetValue() == float64(want) {
					return nil
				}
			}
		}
		return fmt.Errorf("the metrics are %v, want %d pods in %s", families, want, f.shop)
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
	must.Do(t, f.List(t.Context(), &list, client.InNamespace(f.shop)))
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
	t.Parallel()
	f := serve(t)
	missed, injected, foreign := f.podOf("app", "missed"), f.podOf("app", "injected", "aws-iam-token"), f.podOf("plain", "plain")
	skipped := f.podOf("app", "skipped")
	skipped.Labels = map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}
	f.Make(missed, injected, foreign, skipped)
	stop := f.run(t, true)
	f.awaitCount(t, 1)
	first := f.awaitEvent(t, missed, "recreate the pod: kubectl -n "+f.shop+" delete pod missed")

	// A second pod shows that passes have been made since.
	second := f.podOf("app", "second")
	f.Make(second)
	f.awaitCount(t, 2)
	f.awaitEvent(t, second, "Probably the webhook did not answer")
	stop()
	f.run(t, false)
	third := f.podOf("app", "third")
	f.Make(third)
	f.awaitCount(t, 3)
	f.awaitEvent(t, third, "")
	if again := f.awaitEvent(t, missed, ""); again.ResourceVersion != first.ResourceVersion || len(f.events(t)) != 3 {
		t.Errorf("the event was written again, or there are others: version %s, before %s; %d events, want 3", again.ResourceVersion, first.ResourceVersion, len(f.events(t)))
	}

	// What is over, and what is gone, does not count.
	must.Do(t, f.Status().Patch(t.Context(), third, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"phase":"Succeeded"}}`))))
	f.awaitCount(t, 2)
	for _, pod := range []*corev1.Pod{missed, second} {
		f.Remove(pod, client.GracePeriodSeconds(0))
	}
	f.awaitCount(t, 0)
}

// TestAPodOlderThanTheAnnotationIsToldSo: of the one ServiceAccount the API server
// notes who changed what; of the other, which was created without any field, it does
// not, and what the controller saw counts.
func TestAPodOlderThanTheAnnotationIsToldSo(t *testing.T) {
	t.Parallel()
	f := serve(t)
	labelled := f.account("labelled", false)
	labelled.Labels = map[string]string{"a": "b"}
	f.Make(labelled)
	old, older := f.podOf("labelled", "old"), f.podOf("plain", "older")
	f.Make(older, old)
	annotate := func(name string) {
		f.Merge(f.account(name, false), `{"metadata":{"annotations":{"`+roleAnnotation+`":"arn:aws:iam::111122223333:role/app"}}}`)
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
	f.Make(f.podOf("app", "missed"))
	f.awaitCount(t, 1)
	path, none := "/mutate", admissionv1.SideEffectClassNone
	hooks := &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "pod-identity.tabard.dev", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "tabard-system", Name: "tabard-webhook", Path: &path}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "on"}},
		}},
	}
	f.Make(hooks)
	f.awaitCount(t, 0)
	f.Merge(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.shop}}, `{"metadata":{"labels":{"team":"on"}}}`)
	f.awaitCount(t, 1)
	f.Remove(hooks) // the other tests, which run when this one has ended, are without
}
