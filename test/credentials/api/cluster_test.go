// Package api tests credentials on real API servers: the schemas and rules of their kinds,
// and what was stored under the schema of the Cloud Credential Operator; the stand-in for
// that operator; an issuer that is rotated while roles trust it; and Tabard where the
// cluster that it serves is not the one that it runs in.
package api

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	requests   = schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}
	boundaries = schema.GroupVersionResource{Group: "identity.tabard.dev", Version: "v1alpha1", Resource: "credentialsboundaries"}
	grants     = schema.GroupVersionResource{Group: "identity.tabard.dev", Version: "v1alpha1", Resource: "credentialsgrants"}
)

var kinds = map[schema.GroupVersionResource]string{
	requests: "CredentialsRequest", boundaries: "CredentialsBoundary", grants: "CredentialsGrant",
}

// cluster is an API server, in one test.
type cluster struct {
	t      *testing.T
	server *testkit.APIServer
	client dynamic.Interface
}

func newCluster(t *testing.T, of *testkit.Cluster) *cluster {
	t.Helper()
	return &cluster{t, of.APIServer, of.Dynamic}
}

// ship makes the release's schema of requests served. What it returns makes it ours again.
func (c *cluster) ship() (restore func()) {
	c.t.Helper()
	c.server.InstallCRDsFrom(c.t, "testdata/shipped.yaml")
	testkit.Await(c.t, func() error {
		err := c.try(c.t, requests, object(c.t, requests, "probe", "spec: {secretRef: {}, storage: {}}"))
		if err == nil || !strings.Contains(err.Error(), `unknown field "spec.storage"`) {
			return fmt.Errorf("storage is refused with %w, want it unknown", errors.Join(err))
		}
		return nil
	})
	return func() {
		c.server.InstallCRDs(c.t)
		c.untilServed(c.t)
	}
}

// forget removes what the parts have left.
func (c *cluster) forget() {
	for resource := range kinds {
		for _, left := range must.Get(c.of(resource).List(c.t.Context(), metav1.ListOptions{}))(c.t).Items {
			must.Get(c.of(resource).Patch(c.t.Context(), left.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))(c.t)
			must.Do(c.t, c.of(resource).Delete(c.t.Context(), left.GetName(), metav1.DeleteOptions{}))
		}
	}
}

// TestTheKindsOfCredentials goes with one API server from the shipped schema to ours. What
// each part leaves behind the next ones find, as in a cluster.
func TestTheKindsOfCredentials(t *testing.T) {
	all := newCluster(t, newWorld(t).host)
	defer all.ship()()
	defer all.forget()
	for _, part := range []struct {
		name string
		test func(*cluster)
	}{
		{"stored requests survive the upgrade", (*cluster).testUpgrade},
		{"requests", (*cluster).testRequests},
		{"boundaries", (*cluster).testBoundaries},
		{"grants", (*cluster).testGrants},
		{"the examples", (*cluster).testExamples},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(&cluster{t, all.server, all.client}) })
	}
}

// of is the client of a kind.
func (c *cluster) of(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	if resource == requests {
		return c.client.Resource(resource).Namespace("default")
	}
	return c.client.Resource(resource)
}

// object is one of YAML without apiVersion, kind and name.
func object(t *testing.T, resource schema.GroupVersionResource, name, text string) *unstructured.Unstructured {
	t.Helper()
	content := map[string]any{}
	written := must.Get(yaml.YAMLToJSONStrict([]byte(text)))(t)
	if err := json.Unmarshal(written, &content); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	made := &unstructured.Unstructured{Object: content}
	made.SetAPIVersion(resource.GroupVersion().String())
	made.SetKind(kinds[resource])
	made.SetName(name)
	return made
}

// try asks whether an object could be created as written. One that is stored otherwise
// than written is an error of the test.
func (c *cluster) try(t *testing.T, resource schema.GroupVersionResource, written *unstructured.Unstructured) error {
	t.Helper()
	stored, err := c.of(resource).Create(t.Context(), written, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	if err == nil {
		if diff := cmp.Diff(written.Object["spec"], stored.Object["spec"]); diff != "" {
			t.Errorf("it is stored otherwise than it was written (-written +stored):\n%s", diff)
		}
	}
	return err
}

// change reads an object, changes it and writes all of it.
func (c *cluster) change(t *testing.T, resource schema.GroupVersionResource, name string, edit func(map[string]any), options metav1.UpdateOptions, subresources ...string) error {
	t.Helper()
	found := must.Get(c.of(resource).Get(t.Context(), name, metav1.GetOptions{}))(t)
	edit(found.Object)
	_, err := c.of(resource).Update(t.Context(), found, options, subresources...)
	return err
}

// set is an edit of one field; nil removes it.
func set(value any, path ...string) func(map[string]any) {
	return func(object map[string]any) {
		if value == nil {
			unstructured.RemoveNestedField(object, path...)
			return
		}
		if err := unstructured.SetNestedField(object, runtime.DeepCopyJSONValue(value), path...); err != nil {
			panic(err) // the test's own path is wrong
		}
	}
}

// judge reports a verdict that is not as expected: want is part of the refusal's text,
// or empty for none.
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

// row is an object and the refusal that it earns, empty for none.
type row struct{ text, want string }

func (c *cluster) table(resource schema.GroupVersionResource, rows map[string]row) {
	for _, name := range sorted(rows) {
		c.t.Run(name, func(t *testing.T) {
			judge(t, c.try(t, resource, object(t, resource, "probe", rows[name].text)), rows[name].want)
		})
	}
}
