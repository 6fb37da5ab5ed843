package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	managerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/webhook"
)

// TestAPIServerInjects lets an API server ask the webhook: the controller makes
// its certificate and has it trusted; a pod is injected; and one whose
// ServiceAccount was made in the moment before is, too.
func TestAPIServerInjects(t *testing.T) {
	cluster := startWebhook(t)
	for i := range 20 {
		name := fmt.Sprintf("fresh-%d", i)
		create(t, cluster, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
			Annotations: map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/app"}}})
		pod := podOf(name)
		create(t, cluster, pod)
		want := []corev1.EnvVar{{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111122223333:role/app"},
			{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}}
		if diff := cmp.Diff(want, pod.Spec.Containers[0].Env); diff != "" {
			t.Fatalf("pod of %s (-want +got):\n%s", name, diff)
		}
	}
	createPods(t, cluster, "fresh-0")
	followConfigMap(t, cluster)
}

// startWebhook starts an API server, the webhook with the rights that it has in a
// cluster, and what keeps its certificate; at the end of the test it stops them.
func startWebhook(t *testing.T) client.Client {
	t.Helper()
	cluster := webhook.Emptied(t)
	for _, name := range []string{"tabard-system", "tabard-certificate"} {
		create(t, cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	apply(t, cluster, "../../config/rbac/webhook.yaml")
	apply(t, cluster, "../../config/manifests/webhook.yaml")
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.WithoutCancel(t.Context()), ctrl.Log))
	ended := make(chan error, 2)
	port := testkit.FreePort(t)
	limited := rest.CopyConfig(cluster.Config)
	limited.Impersonate.UserName = "system:serviceaccount:tabard-system:tabard-webhook"
	go func() { ended <- serve(ctx, limited, port) }()
	go func() { ended <- keepCertificate(ctx, cluster.Config) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	create(t, cluster, configuration(port))
	await(t, cluster)
	return cluster
}

// apply creates of a manifest what is about rights.
func apply(t *testing.T, cluster client.Client, file string) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if strings.HasPrefix(object.GetAPIVersion(), "rbac.authorization.k8s.io/") {
			create(t, cluster, &object)
		}
	}
}

// await waits until the API server reaches the webhook: with failurePolicy Fail
// no pod is created before.
func await(t *testing.T, cluster client.Client) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = cluster.Create(ctx, podOf("nobody"), client.DryRunAll)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("the API server does not reach the webhook: %v", last)
	}
}

// serve runs the webhook with the Secret where the shipped manifests have it.
func serve(ctx context.Context, config *rest.Config, port int) error {
	return serveFrom(ctx, config, port, "tabard-certificate")
}

func serveFrom(ctx context.Context, config *rest.Config, port int, secretNamespace string) error {
	var options webhook.Options
	options.AddFlags(pflag.NewFlagSet("webhook", pflag.ContinueOnError))
	options.Config, options.BindAddress, options.Port, options.MetricsPort = config, "127.0.0.1", port, 0
	options.DrainTime, options.Namespace, options.WatchConfigMap = 0, "tabard-system", true
	options.TLSSecretNamespace = secretNamespace
	return webhook.Run(ctx, options)
}

func keepCertificate(ctx context.Context, config *rest.Config) error {
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: managerconfig.Controller{SkipNameValidation: new(true)}}) // there is one a test
	if err != nil {
		return err
	}
	if err := certificate.Add(mgr, certificate.Options{Namespace: "tabard-certificate"}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func configuration(port int) *admissionregistrationv1.MutatingWebhookConfiguration {
	url := fmt.Sprintf("https://127.0.0.1:%d/mutate", port)
	none, fail := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "tabard-webhook"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "pod-identity.tabard.dev", SideEffects: &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1", "v1beta1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
}

func podOf(serviceAccount string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: serviceAccount},
		Spec:       corev1.PodSpec{ServiceAccountName: serviceAccount, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
	}
}

func create(t *testing.T, cluster client.Client, object client.Object) {
	t.Helper()
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}
