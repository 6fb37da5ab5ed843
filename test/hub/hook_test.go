package hub

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// hook is the admission hook of a cluster: Tabard's program, with its own rights alone.
type hook struct {
	*testkit.Process
	// url is where it listens.
	url string
}

// startHook starts one, has the API server ask it as the chart's configuration does, and labels
// the namespaces.
func startHook(t *testing.T, cluster *testkit.Cluster, namespaces ...string) hook {
	t.Helper()
	cluster.Grant("ocm-webhook", testkit.Rights(t, "ocm"))
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	must.Do(t, err)
	dir := t.TempDir()
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	port := testkit.FreePort(t)
	h := hook{url: fmt.Sprintf("https://127.0.0.1:%d", port)}
	h.Process = testkit.StartTabard(t, nil, "ocm-webhook", "--kubeconfig="+cluster.Kubeconfig(cluster.As("ocm-webhook")),
		"--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", port), "--metrics-port=-1", "--token-image=tabard-eks-token", "--drain-time=0s",
		"--tls-cert="+filepath.Join(dir, "tls.crt"), "--tls-key="+filepath.Join(dir, "tls.key"))
	for _, name := range namespaces {
		cluster.MakeNamespaces(name)
		cluster.Merge(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, `{"metadata":{"labels":{"tabard.dev/ocm":"enabled"}}}`)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // whether it listens
	cluster.Await(func() error {
		answer, err := client.Get(h.url + "/readyz") //nolint:noctx // it ends with the test
		if err != nil {
			return err
		}
		defer answer.Body.Close() //nolint:errcheck // nothing is read
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("the hook is not ready: %s", answer.Status)
		}
		return nil
	})
	cluster.Make(h.configuration(t, certificate))
	return h
}

// configuration is the chart's, where the hooks are asked here.
func (h hook) configuration(t *testing.T, authority []byte) *admissionv1.MutatingWebhookConfiguration {
	t.Helper()
	for _, object := range testkit.Objects(t, "config/manifests/ocm/webhook.yaml") {
		if object.GetObjectKind().GroupVersionKind().Kind != "MutatingWebhookConfiguration" {
			continue
		}
		var configuration admissionv1.MutatingWebhookConfiguration
		must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(must.Get(runtime.DefaultUnstructuredConverter.ToUnstructured(object))(t), &configuration))
		for i := range configuration.Webhooks {
			client := &configuration.Webhooks[i].ClientConfig
			client.URL, client.CABundle, client.Service = new(h.url+*client.Service.Path), authority, nil
		}
		return &configuration
	}
	t.Fatal("the manifests have no MutatingWebhookConfiguration")
	return nil
}
