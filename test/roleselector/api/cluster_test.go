// Package api tests what a real API server takes of the kinds of role
// selectors: their schemas and rules, what was stored under ACK's own schema, and
// the policies and rights of config/manifests; the process that reports on selectors,
// as a cluster runs it; and what docs/role-selectors.md says of flags and of AWS.
package api

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	selectors  = schema.GroupVersionResource{Group: "services.k8s.aws", Version: "v1alpha1", Resource: "iamroleselectors"}
	choices    = schema.GroupVersionResource{Group: "identity.tabard.dev", Version: "v1alpha1", Resource: "iamrolechoices"}
	reports    = schema.GroupVersionResource{Group: "identity.tabard.dev", Version: "v1alpha1", Resource: "iamroleselectorreports"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

var kinds = map[schema.GroupVersionResource]string{
	configMaps: "ConfigMap", selectors: "IAMRoleSelector", choices: "IAMRoleChoice", reports: "IAMRoleSelectorReport", namespaces: "Namespace",
}

// user is somebody with an API server, and what it warned of.
type user struct {
	t      *testing.T
	server *testkit.APIServer
	client dynamic.Interface

	lock     sync.Mutex
	warnings []string
}

// TestTheKindsOfSelectors goes with one API server from ACK's own schema to ours, and on to
// the policies. What each part leaves behind the next ones find, as in a cluster.
func TestTheKindsOfSelectors(t *testing.T) {
	server := testkit.StartAPIServer(t, "https://issuer.example.com")
	server.InstallCRDsFrom(t, "testdata/shipped.yaml")
	administrator := newUser(t, server, rest.CopyConfig(server.Config)) // who may do everything
	for _, part := range []struct {
		name string
		test func(*user)
	}{
		{"the shipped schema is as written down", (*user).testShipped},
		{"stored objects survive the upgrade", (*user).testUpgrade},
		{"the schema takes what it should", (*user).testSchema},
		{"what a template made null is refused where it can be seen", (*user).testNulls},
		{"the policies hold", (*user).testPolicies},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(administrator.in(t)) })
	}
}

// in is the same user, of another test.
func (u *user) in(t *testing.T) *user {
	t.Helper()
	return newUser(t, u.server, rest.CopyConfig(u.server.Config))
}

// as is another user of the same API server.
func (u *user) as(name string) *user {
	u.t.Helper()
	config := rest.CopyConfig(u.server.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	return newUser(u.t, u.server, config)
}

func newUser(t *testing.T, server *testkit.APIServer, config *rest.Config) *user {
	t.Helper()
	u := &user{t: t, server: server}
	config.WarningHandler = u
	var err error
	if u.client, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return u
}

// HandleWarningHeader keeps a warning for heard.
func (u *user) HandleWarningHeader(_ int, _ string, text string) {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.warnings = append(u.warnings, text)
}

// heard are the warnings since it was last asked.
func (u *user) heard() string {
	u.lock.Lock()
	defer u.lock.Unlock()
	text := strings.Join(u.warnings, "\n")
	u.warnings = nil
	return text
}

// object is one of YAML without apiVersion, kind and name; the text begins with
// spec: or what else it has.
func object(t *testing.T, resource schema.GroupVersionResource, name, text string) *unstructured.Unstructured {
	t.Helper()
	content := map[string]any{}
	written, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil {
		err = json.Unmarshal(written, &content)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	made := &unstructured.Unstructured{Object: content}
	made.SetAPIVersion(resource.GroupVersion().String())
	made.SetKind(kinds[resource])
	made.SetName(name)
	return made
}

// try asks whether an object could be created, and returns what would be stored.
func (u *user) try(resource schema.GroupVersionResource, text, fieldValidation string) (*unstructured.Unstructured, error) {
	u.t.Helper()
	client := dynamic.ResourceInterface(u.client.Resource(resource))
	if resource == choices {
		client = u.client.Resource(resource).Namespace("default")
	}
	return client.Create(u.t.Context(), object(u.t, resource, "probe", text), metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: fieldValidation,
	})
}

// create stores an object.
func (u *user) create(resource schema.GroupVersionResource, name, text string) {
	u.t.Helper()
	if _, err := u.client.Resource(resource).Create(u.t.Context(), object(u.t, resource, name, text), metav1.CreateOptions{}); err != nil {
		u.t.Fatalf("create %s: %v", name, err)
	}
}

// get is the object as it is stored.
func (u *user) get(resource schema.GroupVersionResource, name string) map[string]any {
	u.t.Helper()
	found := must.Get(u.client.Resource(resource).Get(u.t.Context(), name, metav1.GetOptions{}))(u.t)
	return found.Object
}

// change edits an object as kubectl edit does: it reads, changes and writes all of it.
func (u *user) change(resource schema.GroupVersionResource, name string, edit func(map[string]any), subresources ...string) error {
	u.t.Helper()
	return u.write(resource, name, edit, metav1.UpdateOptions{}, subresources...)
}

// tryChange asks whether an object could be edited.
func (u *user) tryChange(resource schema.GroupVersionResource, name string, edit func(map[string]any), subresources ...string) error {
	u.t.Helper()
	return u.write(resource, name, edit, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}, subresources...)
}

func (u *user) write(resource schema.GroupVersionResource, name string, edit func(map[string]any), options metav1.UpdateOptions, subresources ...string) error {
	u.t.Helper()
	client := u.client.Resource(resource)
	for {
		found, err := client.Get(u.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			u.t.Fatal(err)
		}
		edit(found.Object)
		_, err = client.Update(u.t.Context(), found, options, subresources...)
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}

// set is an edit of one field; nil removes it.
func set(value any, path ...string) func(map[string]any) {
	return func(object map[string]any) {
		if value == nil {
			unstructured.RemoveNestedField(object, path...)
			return
		}
		if err := unstructured.SetNestedField(object, value, path...); err != nil {
			panic(err) // the test's own path is wrong
		}
	}
}

// until waits for what the API server's own watches bring about.
func (u *user) until(what func() string, holds func() bool) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			u.t.Fatal("never came about: " + what())
		}
	}
}

// judge reports a verdict that is not as expected: want is part of the refusal's
// text, or empty for none.
func judge(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused, want it accepted: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want a refusal that says %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refused with %v, want %q", err, want)
	}
}

// sorted are the names of a table's rows, so that failures come in an order.
func sorted[V any](rows map[string]V) []string { return slices.Sorted(maps.Keys(rows)) }
