// Package capacity tests the capacity controller as a cluster runs it: the built
// program as a process with the rights of its manifests, on a real API server
// with the kinds of OpenShift and Cluster API, asking the local AWS.
package capacity

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	system  = "tabard-system"
	program = "tabard-capacity"
	// machinesNamespace is the one for which the manifests grant a Secret.
	machinesNamespace = "openshift-machine-api"
	openshiftManifest = "config/manifests/openshift/capacity.yaml"
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

// cluster is one with what users apply of the controller, shared by the tests of its
// namespaces.
type cluster struct{ *testkit.Cluster }

// startCluster starts one with both machine APIs, of which Cluster API's kinds are
// served at their newer version.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{testkit.StartCluster(t, testkit.ClusterOptions{
		Foreign: []testkit.ForeignKinds{testkit.MachineAPI, testkit.ClusterAPI, testkit.ClusterAPIAWS},
	})}
	c.ServeOnly(t, "v1beta2")
	c.MakeNamespaces(system, "openshift-config-managed", machinesNamespace)
	c.MakeFiles("config/rbac/capacity.yaml", "config/manifests/capacity/controller.yaml", openshiftManifest)
	return c
}

// allowSecret grants the Secret of the manifests in another namespace, too.
func (c *cluster) allowSecret(t *testing.T, namespace string) {
	t.Helper()
	for _, object := range testkit.Objects(t, openshiftManifest) {
		kind := object.GetObjectKind().GroupVersionKind()
		if kind.Group == rbacv1.GroupName && object.GetNamespace() == machinesNamespace {
			object.SetNamespace(namespace)
			c.In(t).Make(object)
		}
	}
}

// token is one of the controller's ServiceAccount.
func (c *cluster) token(t *testing.T, audience string, seconds int64) string {
	t.Helper()
	return c.In(t).Token(system, program, time.Duration(seconds)*time.Second, audience)
}

// reread is the object as it is stored now.
func (c *cluster) reread(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(object.GroupVersionKind())
	must.Do(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), out))
	return out
}

// awaitAnnotations waits until all annotations of an object are these.
func (c *cluster) awaitAnnotations(t *testing.T, object *unstructured.Unstructured, want map[string]string) {
	t.Helper()
	testkit.Await(t, func() error {
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
	must.Do(t, c.List(t.Context(), &list, client.InNamespace(object.GetNamespace())))
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
	testkit.Await(t, func() error {
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
	testkit.Await(t, func() error {
		for _, event := range c.events(t, object) {
			rest, found := strings.CutPrefix(saying(event), begin)
			if found && strings.Contains(rest, hint) && (hint != "" || rest == "") {
				return nil
			}
		}
		return fmt.Errorf("%s has the events:\n%s\nwant:\n%s…%s", object.GetName(), c.told(t, object), begin, hint)
	})
}
