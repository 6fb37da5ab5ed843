// Package capacity tests the capacity controller as a cluster runs it: the built
// program as a process with the rights of its manifests, on a real API server
// with the kinds of OpenShift and Cluster API, asking the local AWS.
package capacity

import (
	"context"
	"crypto/x509"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
)

const (
	system  = "tabard-system"
	program = "tabard-capacity"
	// machinesNamespace is the one for which the manifests grant a Secret.
	machinesNamespace = "openshift-machine-api"
)

// TestMain lets more tests run at once than there are processors: what they do
// is waiting for processes.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// cluster is an API server with what users apply of the controller, shared by
// the tests of its namespaces.
type cluster struct {
	client.Client
	api *testkit.APIServer
	// roots vouch for where the API server's issuer is read.
	roots *x509.CertPool
}

// startCluster starts an API server with kinds of others, of which Cluster API's
// are served at one version.
func startCluster(t *testing.T, version string, foreign ...testkit.ForeignKinds) *cluster {
	t.Helper()
	c := &cluster{}
	c.api, c.roots = testkit.StartIssuer(t)
	c.api.InstallForeign(t, foreign...)
	if version != "" {
		c.api.ServeOnly(t, version)
	}
	var err error
	if c.Client, err = client.New(c.api.Config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	c.makeNamespace(t, system)
	c.makeNamespace(t, "openshift-config-managed")
	c.makeNamespace(t, machinesNamespace)
	for _, file := range []string{"rbac/capacity.yaml", "manifests/capacity.yaml", "manifests/openshift/capacity.yaml"} {
		for _, object := range shipped(t, file) {
			c.create(t, object)
		}
	}
	return c
}

// shipped are the objects of a file that users apply.
func shipped(t *testing.T, file string) (out []client.Object) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Root(), "config", file))
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, object)
	}
	return out
}

func (c *cluster) makeNamespace(t *testing.T, name string) {
	t.Helper()
	c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// allowSecret grants the Secret of the manifests in another namespace, too.
func (c *cluster) allowSecret(t *testing.T, namespace string) {
	t.Helper()
	for _, object := range shipped(t, "manifests/openshift/capacity.yaml") {
		kind := object.GetObjectKind().GroupVersionKind()
		if kind.Group == rbacv1.GroupName && object.GetNamespace() == machinesNamespace {
			object.SetNamespace(namespace)
			c.create(t, object)
		}
	}
}

// kubeconfig lets a process be the ServiceAccount of the manifests, by a token as
// its pod has one, and returns that token.
func (c *cluster) kubeconfig(t *testing.T, path string) string {
	t.Helper()
	config := rest.CopyConfig(c.api.Config)
	config.BearerToken = c.token(t, "api", 3600)
	testkit.WriteKubeconfig(t, path, config)
	return config.BearerToken
}

// token is one of the controller's ServiceAccount.
func (c *cluster) token(t *testing.T, audience string, seconds int64) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: &seconds}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: program}}
	if err := c.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func (c *cluster) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// patch changes an object as a person does, by a merge patch.
func (c *cluster) patch(t *testing.T, object *unstructured.Unstructured, text string) {
	t.Helper()
	if err := c.Patch(t.Context(), object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(text)), client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) patchStatus(t *testing.T, object *unstructured.Unstructured, text string) {
	t.Helper()
	if err := c.Status().Patch(t.Context(), object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

// reread is the object as it is stored now.
func (c *cluster) reread(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(object.GroupVersionKind())
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// awaitAnnotations waits until all annotations of an object are these.
func (c *cluster) awaitAnnotations(t *testing.T, object *unstructured.Unstructured, want map[string]string) {
	t.Helper()
	await(t, func() error {
		if got := c.reread(t, object).GetAnnotations(); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%s has the annotations %v, want %v, and the events:\n%s", object.GetName(), got, want, c.told(t, object))
		}
		return nil
	})
}

// checkAnnotations demands that all annotations of an object are these now.
func (c *cluster) checkAnnotations(t *testing.T, object *unstructured.Unstructured, want map[string]string) {
	t.Helper()
	if got := c.reread(t, object).GetAnnotations(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s has the annotations %v, want %v", object.GetName(), got, want)
	}
}

// events are those of an object.
func (c *cluster) events(t *testing.T, object *unstructured.Unstructured) (out []corev1.Event) {
	t.Helper()
	var list corev1.EventList
	if err := c.List(t.Context(), &list, client.InNamespace(object.GetNamespace())); err != nil {
		t.Fatal(err)
	}
	for _, event := range list.Items {
		if event.InvolvedObject.UID == object.GetUID() {
			out = append(out, event)
		}
	}
	return out
}

// told are an object's events as text.
func (c *cluster) told(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	var out []string
	for _, event := range c.events(t, object) {
		out = append(out, saying(event))
	}
	return strings.Join(out, "\n")
}

// saying is an event as people read it.
func saying(event corev1.Event) string {
	return event.Type + " " + event.Reason + ": " + event.Message
}

// awaitEvent waits until an event of an object says this.
func (c *cluster) awaitEvent(t *testing.T, object *unstructured.Unstructured, want string) {
	t.Helper()
	await(t, func() error {
		for _, event := range c.events(t, object) {
			if saying(event) == want {
				return nil
			}
		}
		return fmt.Errorf("%s has the events:\n%s\nwant:\n%s", object.GetName(), c.told(t, object), want)
	})
}

// awaitTold waits until an event of an object begins so and has a hint in the
// rest. Without a hint there is no rest.
func (c *cluster) awaitTold(t *testing.T, object *unstructured.Unstructured, begin, hint string) {
	t.Helper()
	await(t, func() error {
		for _, event := range c.events(t, object) {
			rest, found := strings.CutPrefix(saying(event), begin)
			if found && strings.Contains(rest, hint) && (hint != "" || rest == "") {
				return nil
			}
		}
		return fmt.Errorf("%s has the events:\n%s\nwant:\n%s…%s", object.GetName(), c.told(t, object), begin, hint)
	})
}

// await waits until what it is asked about holds; nil says so.
func await(t *testing.T, what func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		last = what()
		return last == nil, nil
	})
	if err != nil {
		t.Fatal(last)
	}
}
