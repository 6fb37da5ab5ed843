package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// impossible are the fixtures that no API server can make true, with a part of
// what shows it.
var impossible = map[string]string{
	// A pod has a container.
	"12l-no-metadata": "spec.containers: Required value",
	// Ephemeral containers come later, by a way of their own.
	"23-unknown-fields-survive":       "spec.ephemeralContainers: Forbidden: cannot be set on create",
	"38-ephemeral-containers":         "spec.ephemeralContainers: Forbidden: cannot be set on create",
	"azure/14-unknown-fields-survive": "spec.ephemeralContainers: Forbidden: cannot be set on create",
	"gcp/13-unknown-fields-survive":   "spec.ephemeralContainers: Forbidden: cannot be set on create",
	// What is mounted is a volume.
	"34-several-containers": "spec.containers[0].volumeMounts[0].name: Not found",
	// A pod has a name, of which that of the volume is made.
	"azure/01c-no-name": "azure-workload-identity-reserved-",
	// A pod without ServiceAccount has no tokens. The API server fills in "default"
	// before, unless that admission is switched off, as it is in this test.
	"azure/05b-no-account-is-default": "must not be specified when serviceAccountName is not set",
}

// TestGoldenPodsThroughAnAPIServer takes the pod of every fixture through an API
// server with the hooks that users apply for all clouds, and a server with the
// fixture's settings behind them. What comes out is what the API server makes of
// the pod that the fixture wants.
func TestGoldenPodsThroughAnAPIServer(t *testing.T) {
	names := fixtureNames(t)
	g := startGolden(t, names)
	for name := range impossible {
		if !slices.Contains(names, name) {
			t.Errorf("there is no fixture %s", name)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			problem := g.check(t, readFixture(t, name))
			switch shown, listed := impossible[name]; {
			case !listed && problem != "":
				t.Error(problem)
			case listed && (problem == "" || !strings.Contains(problem, shown)):
				t.Errorf("it is listed as impossible because of %q; what is wrong with it: %q", shown, problem)
			}
		})
	}
}

// golden is an API server whose hooks lead to the server of one fixture at a time.
type golden struct {
	config *rest.Config
	client client.Client
	http   *http.Client
	front  *front
	// namespaces are those of the fixtures, and that of the servers. The hooks are asked
	// in no other.
	namespaces []string
	// order is that of the clouds' hooks.
	order []string
}

func startGolden(t *testing.T, names []string) *golden {
	t.Helper()
	server := shared(t)
	system := server.NewNamespace()
	g := &golden{config: server.Config, client: server, front: startFront(t, system), namespaces: []string{system}}
	for _, name := range names {
		g.namespaces = append(g.namespaces, readFixture(t, name).Namespace)
	}
	g.http = must.Get(rest.HTTPClientFor(g.config))(t)
	t.Cleanup(func() { removeHooks(t, g.client, configuration) })
	return g
}

func (g *golden) create(t *testing.T, object client.Object) {
	t.Helper()
	testkit.Create(t, g.client, object)
}

// check says what is not as the fixture wants it.
func (g *golden) check(t *testing.T, given fixture) (problem string) {
	t.Helper()
	g.prepare(t, given)
	g.front.let(nil, nil)
	want := g.dryRun(t, given.Namespace, given.want)
	if want.code != http.StatusCreated {
		return fmt.Sprintf("the API server refuses the wanted pod: %s", want.text)
	}
	stop := g.front.serve(t, g.config, given)
	defer stop()
	got := g.dryRun(t, given.Namespace, given.pod)
	if given.refusal != "" {
		if message, _ := got.pod["message"].(string); got.code != http.StatusBadRequest || !strings.HasSuffix(message, given.refusal) {
			problem = fmt.Sprintf("the answer is %d %s, want a refusal: %s", got.code, got.text, given.refusal)
		}
		return problem
	}
	if got.code != http.StatusCreated {
		return fmt.Sprintf("the API server refuses the pod: %s", got.text)
	}
	warnings := append(want.warnings, given.warnings...) // the API server has some itself
	slices.Sort(warnings)
	slices.Sort(got.warnings)
	if diff := cmp.Diff(want.pod, got.pod) + cmp.Diff(warnings, got.warnings); diff != "" {
		problem = "(-want +got):\n" + diff
	}
	return problem
}

// prepare makes the cluster as the fixture says.
func (g *golden) prepare(t *testing.T, given fixture) {
	t.Helper()
	order := slices.Concat(given.Clouds, slices.DeleteFunc([]string{"aws", "azure", "gcp"}, func(cloud string) bool { return slices.Contains(given.Clouds, cloud) }))
	if len(given.Clouds) == 1 {
		order = []string{"aws", "azure", "gcp"}
	}
	g.install(t, order)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: given.Namespace, Labels: given.NamespaceLabels}}
	g.put(t, namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: given.Namespace, Name: given.account(), Annotations: given.Annotations, Labels: given.Labels}}
	if err := g.client.Delete(t.Context(), account); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	account.ResourceVersion, account.UID = "", ""
	if !given.Unknown {
		g.create(t, account)
	}
	if given.Mapping != "" {
		g.put(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: g.front.namespace, Name: "pod-identity-webhook"}, Data: map[string]string{"config": given.Mapping}})
	}
}

// put makes an object as it is said, whether there is one or not.
func (g *golden) put(t *testing.T, object client.Object) {
	t.Helper()
	err := g.client.Update(t.Context(), object)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		g.create(t, object)
	}
}

// install makes the API server ask the clouds' hooks in this order, and waits
// until it does.
func (g *golden) install(t *testing.T, order []string) {
	t.Helper()
	if slices.Equal(g.order, order) {
		return
	}
	g.order = order
	found := hooks(t, "clouds/webhook-all.yaml", g.front.address, g.namespaces)
	slices.SortStableFunc(found.Webhooks, func(a, b admissionv1.MutatingWebhook) int {
		return slices.Index(order, cloudOf(*a.ClientConfig.URL)) - slices.Index(order, cloudOf(*b.ClientConfig.URL))
	})
	for i := range found.Webhooks {
		found.Webhooks[i].ClientConfig.CABundle = g.front.authority
	}
	removeHooks(t, g.client, configuration)
	g.create(t, found)
	g.front.let(nil, nil)
	canary := object{"metadata": map[string]any{"labels": map[string]any{"azure.workload.identity/use": "true"}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "app:1"}}}}
	canary.complete(g.front.namespace)
	eventually(t, "the API server asks "+strings.Join(order, ", "), func() bool {
		g.front.take()
		answer := g.dryRun(t, g.front.namespace, canary)
		return answer.code == http.StatusCreated && slices.Equal(g.front.take(), order)
	})
}

// answer is what the API server says to a pod.
type answer struct {
	code     int
	text     string
	pod      object
	warnings []string
}

// dryRun asks the API server what it would make of a pod.
func (g *golden) dryRun(t *testing.T, namespace string, pod object) answer {
	t.Helper()
	url := fmt.Sprintf("%s/api/v1/namespaces/%s/pods?dryRun=All&fieldValidation=Ignore", g.config.Host, namespace)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(pod.json(t))))(t)
	request.Header.Set("Content-Type", "application/json")
	response, err := g.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text := must.Get(io.ReadAll(response.Body))(t)
	got := answer{code: response.StatusCode, text: string(text)}
	must.Do(t, json.Unmarshal(text, &got.pod))
	got.pod.forget()
	heard, problems := utilnet.ParseWarningHeaders(response.Header.Values("Warning"))
	for _, problem := range problems {
		t.Error(problem)
	}
	for _, each := range heard {
		got.warnings = append(got.warnings, each.Text)
	}
	return got
}

// forget takes away what is another each time.
func (o object) forget() {
	metadata, _ := o["metadata"].(map[string]any)
	for _, name := range []string{"uid", "creationTimestamp", "managedFields", "resourceVersion"} {
		delete(metadata, name)
	}
	if metadata["generateName"] != nil {
		delete(metadata, "name")
	}
}
