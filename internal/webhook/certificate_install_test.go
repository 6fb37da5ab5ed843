package webhook_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const aRole = "arn:aws:iam::111122223333:role/app"

// documents are those of a YAML file of this repository.
func documents(t *testing.T, path ...string) [][]byte {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...)))(t)
	var found [][]byte
	for text := range strings.SplitSeq(string(content), "\n---\n") {
		found = append(found, []byte(text))
	}
	return found
}

// shipped are the objects of a file of config/manifests that matter where nothing
// runs in pods.
func shipped(t *testing.T, name string) []client.Object {
	t.Helper()
	var found []client.Object
	for _, text := range documents(t, "config", "manifests", name) {
		var kind metav1.TypeMeta
		must.Do(t, yaml.Unmarshal(text, &kind))
		object := map[string]client.Object{
			"Namespace": &corev1.Namespace{}, "ServiceAccount": &corev1.ServiceAccount{}, "Service": &corev1.Service{},
			"MutatingWebhookConfiguration":   &admissionregistrationv1.MutatingWebhookConfiguration{},
			"ValidatingWebhookConfiguration": &admissionregistrationv1.ValidatingWebhookConfiguration{},
		}[kind.Kind]
		if object == nil {
			continue
		}
		must.Do(t, yaml.UnmarshalStrict(text, object))
		found = append(found, object)
	}
	return found
}

// installNamespaces creates Tabard's namespaces, and one in which no pod starts
// without its identity; and in it and in the default one a ServiceAccount with a
// role.
func installNamespaces(t *testing.T, cluster client.Client) {
	t.Helper()
	for _, object := range shipped(t, "00-namespace.yaml") {
		create(t, cluster, object)
	}
	create(t, cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "strict", Labels: map[string]string{"tabard.dev/injection": "required"}}})
	for _, namespace := range []string{"default", "strict"} {
		create(t, cluster, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app",
			Annotations: map[string]string{"eks.amazonaws.com/role-arn": aRole}}})
	}
}

// installWebhook creates what is shipped, with URLs in the place of Services,
// which no API server of a test resolves.
func installWebhook(t *testing.T, cluster client.Client, address string, bundle []byte) {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]string{"tabard-webhook": "127.0.0.1", "tabard-webhook-probe": "localhost"}
	for _, object := range shipped(t, "webhook.yaml") {
		if configuration, ok := object.(*admissionregistrationv1.MutatingWebhookConfiguration); ok {
			for i := range configuration.Webhooks {
				config := &configuration.Webhooks[i].ClientConfig
				url := "https://" + hosts[config.Service.Name] + ":" + port + *config.Service.Path
				*config = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: bundle}
			}
		}
		create(t, cluster, object)
	}
}

// tryStrict says why a pod that must have its identity would not start with it.
func tryStrict(t *testing.T, cluster client.Client) error {
	t.Helper()
	pod := podOf("app")
	pod.Namespace = "strict"
	if err := cluster.Create(t.Context(), pod, client.DryRunAll); err != nil {
		return err
	}
	if !isInjected(pod) {
		return errors.New("the pod has no identity")
	}
	return nil
}

// asOperator installs the rights of the controller certificate and the policies that
// hold it, as they are shipped, and is a client that has no others.
func asOperator(t *testing.T, cluster client.Client, config *rest.Config) *rest.Config {
	t.Helper()
	for _, text := range slices.Concat(documents(t, "config", "rbac", "certificate.yaml"), documents(t, "config", "manifests", "certificate.yaml"), documents(t, "config", "manifests", "policies.yaml")) {
		object := &unstructured.Unstructured{}
		must.Do(t, yaml.UnmarshalStrict(text, object))
		if group := object.GroupVersionKind().Group; group != "rbac.authorization.k8s.io" && group != "admissionregistration.k8s.io" {
			continue
		}
		must.Do(t, cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl")))
	}
	own := rest.CopyConfig(config)
	own.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:tabard-certificate:tabard-certificate",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:tabard-certificate", "system:authenticated"}}
	return own
}
