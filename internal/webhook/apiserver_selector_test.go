package webhook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// heard are the warnings that a client is given.
type heard struct {
	mu   sync.Mutex
	said []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (h *heard) HandleWarningHeader(code int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, fmt.Sprintf("%d %s", code, text))
}

func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	said := h.said
	h.said = nil
	return said
}

// TestTheAPIServerHandsOnWarningsOfSelectorsThatOverlap: the webhook begins before
// the kind is there, with the rights that the manifests give it.
func TestTheAPIServerHandsOnWarningsOfSelectorsThatOverlap(t *testing.T) {
	server := Emptied(t)
	warnings := &heard{}
	config := rest.CopyConfig(server.Config)
	config.WarningHandler = warnings
	cluster := must.Get(client.New(config, client.Options{}))(t)
	port, chain := startWithWarnings(t, server)
	create := func(object *unstructured.Unstructured) error { return cluster.Create(t.Context(), object) }
	for _, object := range manifests(t, "config/rbac/webhook.yaml", "config/manifests/role-selectors/warnings.yaml", "config/manifests/webhook.yaml") {
		switch object.GetKind() {
		case "ClusterRole", "ClusterRoleBinding":
		case "ValidatingWebhookConfiguration":
			object = reachedAt(t, object, port, chain)
		default:
			continue
		}
		if err := create(object); err != nil {
			t.Fatalf("create %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
	server.InstallCRDs(t)
	must.Do(t, create(selectorIn("a", "prod")))
	const overlap = "299 overlaps with a: resources that both select are in conflict"
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		warnings.take()
		if err := cluster.Create(ctx, selectorIn("b", "prod"), client.DryRunAll); err != nil {
			return false, err
		}
		return slices.Equal(warnings.take(), []string{overlap}), nil
	})
	if err != nil {
		t.Fatalf("nobody is warned of the overlap: %v", err)
	}
	// Who writes is warned, and not kept from it.
	b := selectorIn("b", "prod")
	must.Do(t, create(b))
	wantSaid(t, "a selector that overlaps", warnings.take(), overlap)
	must.Do(t, create(selectorIn("c", "dev")))
	wantSaid(t, "a selector of another namespace", warnings.take())
	b.SetLabels(map[string]string{"changed": "yes"})
	must.Do(t, cluster.Update(t.Context(), b))
	wantSaid(t, "a change of labels", warnings.take())
}

func wantSaid(t *testing.T, of string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: warnings %q, want %q", of, got, want)
	}
}

func selectorIn(name, namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "services.k8s.aws/v1alpha1", "kind": "IAMRoleSelector", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"arn": "arn:aws:iam::111122223333:role/" + name, "namespaceSelector": map[string]any{"names": []any{namespace}},
		},
	}}
}

// startWithWarnings starts the webhook as its ServiceAccount, and returns where.
func startWithWarnings(t *testing.T, server *testkit.Cluster) (port int, chain []byte) {
	t.Helper()
	chain, key := pair(t, time.Now().Add(time.Hour))
	o := defaultOptions(t)
	o.TLSCert, o.TLSKey = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	for file, text := range map[string][]byte{o.TLSCert: chain, o.TLSKey: key} {
		must.Do(t, os.WriteFile(file, text, 0o600))
	}
	port = testkit.FreePort(t)
	o.Config = rest.CopyConfig(server.Config)
	o.Config.Impersonate.UserName = "system:serviceaccount:tabard-system:tabard-webhook"
	o.BindAddress, o.Port, o.MetricsPort, o.DrainTime, o.RoleSelectorWarnings = "127.0.0.1", port, -1, 0, true
	ctx, cancel := context.WithCancel(logr.NewContext(context.WithoutCancel(t.Context()), logr.Discard()))
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return port, chain
}

// manifests are the objects of files of the repository.
func manifests(t *testing.T, files ...string) (objects []*unstructured.Unstructured) {
	t.Helper()
	for _, file := range files {
		text := must.Get(os.ReadFile(filepath.Join(testkit.Root(), file)))(t)
		for document := range strings.SplitSeq(string(text), "---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if len(object.Object) > 0 {
				objects = append(objects, object)
			}
		}
	}
	return objects
}

// reachedAt is the configuration of the manifest for a server outside of the
// cluster.
func reachedAt(t *testing.T, object *unstructured.Unstructured, port int, chain []byte) *unstructured.Unstructured {
	t.Helper()
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &configuration))
	for i := range configuration.Webhooks {
		reach := &configuration.Webhooks[i].ClientConfig
		url := fmt.Sprintf("https://127.0.0.1:%d%s", port, *reach.Service.Path)
		*reach = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: chain}
	}
	written := must.Get(runtime.DefaultUnstructuredConverter.ToUnstructured(&configuration))(t)
	return &unstructured.Unstructured{Object: written}
}
