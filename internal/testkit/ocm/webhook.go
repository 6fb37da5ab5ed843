package ocm

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ClusterSetLabel says of which set a ManagedCluster is. The webhook gives it to each that has none, and
// refuses those who write such a one without the right to do so: Open Cluster Management's own hub
// controller, too.
const ClusterSetLabel = "cluster.open-cluster-management.io/clusterset"

// StartWebhook starts the admission webhook of a hub's ManagedClusters, by the rights that the
// operator gives it, and has the API server ask it as the operator's configurations do. It
// decides who may accept a cluster. It also listens on the ports 8000 and 8080 of this machine,
// which no flag changes.
func StartWebhook(t testing.TB, hub *testkit.Cluster) *testkit.Process {
	t.Helper()
	hub = hub.In(t)
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	must.Do(t, err)
	dir, port := t.TempDir(), testkit.FreePort(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	user := "system:serviceaccount:" + HubNamespace + ":registration-webhook-sa"
	command := exec.CommandContext(context.WithoutCancel(t.Context()), Program(t),
		"registration", "webhook-server", fmt.Sprintf("--port=%d", port), "--certdir="+dir)
	command.Env = []string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "KUBECONFIG=" + hub.Kubeconfig(hub.As(user))}
	process := testkit.StartProcess(t, command)
	hub.Await(func() error {
		if process.Ended() {
			t.Fatalf("the webhook has ended:\n%s", process.Log())
		}
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		return connection.Close()
	})
	for _, name := range []string{"validating", "mutating"} {
		for _, object := range rendered(t, "manifests/cluster-manager/hub/registration/webhook-"+name+"configuration.yaml") {
			hub.Make(askedAt(t, object.(*unstructured.Unstructured), fmt.Sprintf("https://127.0.0.1:%d", port), certificate))
		}
	}
	awaitAsked(t, hub)
	return process
}

// awaitAsked waits until the API server asks both hooks: it learns of them by a watch of its own.
func awaitAsked(t testing.TB, hub *testkit.Cluster) {
	t.Helper()
	hub.Await(func() error {
		plain := New(ManagedCluster, "", "asked")
		if err := hub.Create(t.Context(), plain, client.DryRunAll); err != nil {
			return err
		}
		if plain.GetLabels()[ClusterSetLabel] == "" {
			return fmt.Errorf("the mutating webhook gives a new ManagedCluster no label %s", ClusterSetLabel)
		}
		wrong := New(ManagedCluster, "", "asked")
		wrong.Object["spec"] = map[string]any{"managedClusterClientConfigs": []any{map[string]any{"url": "http://asked.example.com"}}}
		if err := hub.Create(t.Context(), wrong, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "invalid in client configs") {
			return fmt.Errorf("of a wrong ManagedCluster the validating webhook says %s", fmt.Sprint(err))
		}
		return nil
	})
}

// askedAt is a webhook configuration whose hooks are asked at a URL instead of a Service.
func askedAt(t testing.TB, configuration *unstructured.Unstructured, url string, authority []byte) *unstructured.Unstructured {
	t.Helper()
	hooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	must.Do(t, err)
	for _, each := range hooks {
		hook := each.(map[string]any)
		path, _, err := unstructured.NestedString(hook, "clientConfig", "service", "path")
		must.Do(t, err)
		asked := admissionv1.WebhookClientConfig{URL: new(url + path), CABundle: authority}
		hook["clientConfig"] = must.Get(runtime.DefaultUnstructuredConverter.ToUnstructured(&asked))(t)
	}
	must.Do(t, unstructured.SetNestedSlice(configuration.Object, hooks, "webhooks"))
	return configuration
}
