// Package webhook tests the pod identity webhook as a cluster runs it: two
// processes of it behind a balancer, asked by a real API server with the hooks
// that users apply, and the operator that keeps their certificate.
package webhook

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// configuration is the name of the hooks' configuration. Each test takes its own away.
const configuration = "tabard-webhook"

// shared is the API server of all tests that do not need one for themselves.
var shared = testkit.SharedCluster(testkit.ClusterOptions{Issuer: "https://issuer.example.com"})

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// cluster is an API server that asks the webhook's replicas.
type cluster struct {
	t      *testing.T
	dir    string
	config *rest.Config
	client.Client
	// system is the replicas' namespace. A pod may start without its identity in shop,
	// but not in vault, and in lenient only if it says so. They are the test's own.
	system, shop, vault, lenient string
	// wire is the replicas' way to the API server, which a test can cut.
	wire *wire
	// balancer is what the API server asks.
	balancer *balancer
}

// startCluster gives the shared API server the hooks that users apply for AWS alone.
// They lead to a balancer, behind which there is nothing yet.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	return newCluster(t, shared(t), "webhook.yaml")
}

// newCluster gives an API server the hooks of a manifest, which are asked in the test's
// namespaces, and in more.
func newCluster(t *testing.T, server *testkit.Cluster, manifest string, more ...string) *cluster {
	t.Helper()
	system := server.NewNamespace()
	c := &cluster{t: t, dir: t.TempDir(), config: server.Config, Client: server.WithWatch,
		system: system, shop: system + "-shop", vault: system + "-vault", lenient: system + "-lenient"}
	c.wire = startWire(t, c.config.Host[len("https://"):])
	c.balancer = startBalancer(t)
	c.install(hooks(t, manifest, c.balancer.address, append(more, c.shop, c.vault, c.lenient)))
	return c
}

// install creates hooks, which the end of the test removes.
func (c *cluster) install(hooks *admissionv1.MutatingWebhookConfiguration) {
	c.t.Helper()
	c.t.Cleanup(func() { removeHooks(c.t, c, hooks.Name) })
	c.create(hooks)
}

// removeHooks removes those of a configuration, if it is there.
func removeHooks(t *testing.T, cluster client.Client, name string) {
	t.Helper()
	hooks := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := cluster.Delete(context.WithoutCancel(t.Context()), hooks); client.IgnoreNotFound(err) != nil {
		t.Errorf("remove the hooks of %s: %v", name, err)
	}
}

// hooks are those of a manifest that users apply, at another address and for some
// namespaces alone.
func hooks(t *testing.T, manifest, address string, namespaces []string) *admissionv1.MutatingWebhookConfiguration {
	t.Helper()
	found := shipped[admissionv1.MutatingWebhookConfiguration](t, manifest, "MutatingWebhookConfiguration", configuration)
	for i := range found.Webhooks {
		selector := found.Webhooks[i].NamespaceSelector
		selector.MatchExpressions = append(selector.MatchExpressions,
			metav1.LabelSelectorRequirement{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: namespaces})
		address := address
		if found.Webhooks[i].Name == certificate.ProbeHook { // a name of its own for the same replicas
			address = strings.Replace(address, "127.0.0.1", "localhost", 1)
		}
		url := "https://" + address + *found.Webhooks[i].ClientConfig.Service.Path
		found.Webhooks[i].ClientConfig = admissionv1.WebhookClientConfig{URL: &url}
	}
	return found
}

// shipped is an object of a manifest that users apply.
func shipped[T any](t *testing.T, manifest, kind, name string) *T {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("../../config/manifests", manifest)))(t)
	for _, document := range splitDocuments(text) {
		var head metav1.PartialObjectMetadata
		must.Do(t, yaml.Unmarshal(document, &head))
		if head.Kind != kind || head.Name != name {
			continue
		}
		found := new(T)
		must.Do(t, yaml.Unmarshal(document, found))
		return found
	}
	t.Fatalf("%s has no %s %s", manifest, kind, name)
	return nil
}

func (c *cluster) create(object client.Object) {
	c.t.Helper()
	testkit.Create(c.t, c, object)
}

// kubeconfig writes a file by which a process reaches the API server at an
// address.
func (c *cluster) kubeconfig(name, address string) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	config := rest.CopyConfig(c.config)
	config.Host = "https://" + address
	testkit.WriteKubeconfig(c.t, path, config)
	return path
}

// run starts a process of tabard, which is stopped at the end of the test.
func (c *cluster) run(args ...string) *testkit.Process {
	c.t.Helper()
	tabard := os.Getenv("TABARD_BIN")
	if tabard == "" {
		c.t.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	return testkit.StartProcess(c.t, exec.CommandContext(context.WithoutCancel(c.t.Context()), tabard, args...))
}

// replica is one process of the webhook, which the balancer knows.
type replica struct {
	*testkit.Process
	cluster *cluster
	name    string
	port    int
	metrics int
	args    []string
}

// replica starts a replica, and tells the balancer of it.
func (c *cluster) replica(name string, args ...string) *replica {
	c.t.Helper()
	r := &replica{cluster: c, name: name, port: testkit.FreePort(c.t), metrics: testkit.FreePort(c.t), args: args}
	r.start()
	c.balancer.add(r)
	return r
}

func (r *replica) start() {
	config := r.cluster.kubeconfig(r.name+".kubeconfig", r.cluster.wire.address)
	r.Process = r.cluster.run(append([]string{
		"webhook", "--namespace", r.cluster.system, "--kubeconfig", config, "--bind-address=127.0.0.1",
		"--port", strconv.Itoa(r.port), "--metrics-port", strconv.Itoa(r.metrics), "--log-level=warn",
	}, r.args...)...)
}

// ready asks as the kubelet asks, and says whether there was an answer.
func (r *replica) ready(ctx context.Context) (is, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", r.metrics), nil)
	if err != nil {
		return false, false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK, true
}
