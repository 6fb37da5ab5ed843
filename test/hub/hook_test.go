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
	cluster.Make(h.configuration(certificate))
	return h
}

// configuration has the API server ask the hook.
func (h hook) configuration(authority []byte) *admissionv1.MutatingWebhookConfiguration {
	made := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "tabard-ocm"}}
	add := func(path, group string, operations []admissionv1.OperationType, condition string) {
		each := admissionv1.MutatingWebhook{
			Name: path + ".ocm.tabard.dev", ClientConfig: admissionv1.WebhookClientConfig{URL: new(h.url + "/" + path), CABundle: authority},
			FailurePolicy: new(admissionv1.Fail), SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ReinvocationPolicy: new(admissionv1.IfNeededReinvocationPolicy),
			Rules: []admissionv1.RuleWithOperations{{
				Operations: operations, Rule: admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{path}},
			}},
		}
		if group == "" {
			each.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tabard.dev/ocm": "enabled"}}
		}
		if condition != "" {
			each.MatchConditions = []admissionv1.MatchCondition{{Name: "concerns-it", Expression: condition}}
		}
		made.Webhooks = append(made.Webhooks, each)
	}
	write := []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
	add("klusterlets", "operator.open-cluster-management.io", write, "")
	add("pods", "", []admissionv1.OperationType{admissionv1.Create}, "")
	add("serviceaccounts", "", write, "has(object.metadata.annotations) && 'eks.amazonaws.com/role-arn' in object.metadata.annotations")
	return made
}
