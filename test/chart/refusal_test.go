package chart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/controller/webhookdeployment"
	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// quiet is a cluster without controllers of Kubernetes', so that nothing but what the test
// starts writes to an object.
func quiet(t *testing.T) world {
	t.Helper()
	t.Parallel()
	ctrl.SetLogger(logr.Discard())
	return world{testkit.StartCluster(t, testkit.ClusterOptions{})}
}

// keep runs the controller that keeps the webhook, by its own account, until the test ends.
func (w world) keep(t *testing.T) {
	t.Helper()
	unchecked := true
	mgr := must.Get(ctrl.NewManager(w.As("system:serviceaccount:tabard-system:tabard-webhookdeployment"), ctrl.Options{
		Scheme: w.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &unchecked},
	}))(t)
	manifest := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "config/manifests/webhook.yaml")))(t)
	must.Do(t, webhookdeployment.Add(mgr, webhookdeployment.Options{
		Settings: core.Settings{Manifest: manifest, Namespace: "tabard-system"}, Metrics: webhookdeployment.NewMetrics(prometheus.NewRegistry()),
	}))
	testkit.RunManager(t, mgr)
}

// versions tell whether an object was written or made anew.
func (w world) versions() map[string]string {
	w.Helper()
	return w.each(func(object *unstructured.Unstructured) string {
		return string(object.GetUID()) + " " + object.GetResourceVersion()
	})
}

// TestTheChartRefusesWhatTheControllerOfTheWebhookMade: helm stops before its first write.
func TestTheChartRefusesWhatTheControllerOfTheWebhookMade(t *testing.T) {
	tests := map[string]struct{ before, helm, says string }{
		"the controller came by manifests": {
			`kubectl apply -f config/manifests/00-namespace.yaml -f config/rbac/webhookdeployment.yaml -f config/manifests/policies.yaml -f config/manifests/webhookdeployment/controller.yaml`,
			"helm install tabard charts/tabard -n tabard-system", "",
		},
		"the controller came by the chart": {
			"helm install tabard charts/tabard -n tabard-system --create-namespace --set webhook.enabled=false,webhookDeployment.enabled=true\nkubectl wait --for=condition=Established crd --all",
			"helm upgrade tabard charts/tabard -n tabard-system --set webhook.enabled=true,webhookDeployment.enabled=false", `"tabard-webhook`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := quiet(t)
			w.shell(test.before)
			w.keep(t)
			w.Await(func() error {
				id, probe := client.ObjectKey{Namespace: "tabard-system", Name: "tabard-webhook"}, client.ObjectKey{Namespace: "tabard-system", Name: "tabard-webhook-probe"}
				return errors.Join(w.Get(t.Context(), id, &appsv1.Deployment{}), w.Get(t.Context(), id, &policyv1.PodDisruptionBudget{}),
					w.Get(t.Context(), id, &corev1.Service{}), w.Get(t.Context(), probe, &corev1.Service{}),
					w.Get(t.Context(), client.ObjectKey{Name: id.Name}, &admissionv1.MutatingWebhookConfiguration{}))
			})
			before := w.versions()
			said := w.shell("if said=$(" + test.helm + " 2>&1); then echo 'not refused'; fi; echo \"$said\"")
			if strings.Contains(said, "not refused") || !strings.Contains(said, "invalid ownership metadata") || !strings.Contains(said, test.says) {
				t.Errorf("helm said %s", said)
			}
			if diff := cmp.Diff(before, w.versions()); diff != "" {
				t.Errorf("helm wrote (-before +after):\n%s", diff)
			}
		})
	}
}

// awaitEvent waits for an event about an object of the webhook.
func (w world) awaitEvent(reason, says string) {
	w.Helper()
	w.Await(func() error {
		var list eventsv1.EventList
		if err := w.List(w.Context(), &list); err != nil {
			return err
		}
		for _, event := range list.Items {
			if event.Reason == reason && strings.Contains(event.Note, says) && event.Regarding.Name == "tabard-webhook" {
				return nil
			}
		}
		return fmt.Errorf("no event %s says %q among %d", reason, says, len(list.Items))
	})
}

// TestTheControllerOfTheWebhookLeavesWhatTheChartMade and says that Helm keeps it. One of
// the objects differs from what the controller wants: without Helm it would be put back.
func TestTheControllerOfTheWebhookLeavesWhatTheChartMade(t *testing.T) {
	w := quiet(t)
	w.shell(`helm install tabard charts/tabard -n tabard-system --create-namespace --set webhook.replicas=3
		kubectl wait --for=condition=Established crd --all
		kubectl apply -f config/rbac/webhookdeployment.yaml -f config/manifests/webhookdeployment/controller.yaml`)
	before := w.versions()
	w.keep(t)
	w.awaitEvent(string(core.OtherManager), "is kept by Helm")
	if diff := cmp.Diff(before, w.versions()); diff != "" {
		t.Errorf("the controller wrote (-before +after):\n%s", diff)
	}
}

// TestThePagesProfileIsInstalledTwice types the command of docs/install.md, and the same
// with each other profile that needs no kinds of others.
func TestThePagesProfileIsInstalledTwice(t *testing.T) {
	const command = "helm upgrade --install tabard charts/tabard --namespace tabard-system --create-namespace --reset-then-reuse-values -f charts/tabard/profiles/kubeadm.yaml"
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/install.md")))(t))
	if !strings.Contains(page, "\n"+command+"\n") {
		t.Fatalf("docs/install.md does not have the command %s", command)
	}
	w := quiet(t)
	for _, name := range []string{"kubeadm", "kubeadm", "k3s", "kops", "talos", "eks", "hosted-control-plane"} {
		if said := w.shell(strings.Replace(command, "kubeadm", name, 1)); !strings.Contains(said, "STATUS: deployed") {
			t.Errorf("with the profile %s helm said %s", name, said)
		}
	}
}
