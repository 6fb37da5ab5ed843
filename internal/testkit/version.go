package testkit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ServeOnly leaves one version of Cluster API's kinds, and waits until that is
// so: between two there would be a conversion webhook.
func (s *APIServer) ServeOnly(t testing.TB, version string) {
	t.Helper()
	cluster := must.Get(client.New(s.Config, client.Options{}))(t)
	for _, name := range []string{"clusters", "machinedeployments", "machinesets"} {
		crd := &unstructured.Unstructured{}
		crd.SetAPIVersion("apiextensions.k8s.io/v1")
		crd.SetKind("CustomResourceDefinition")
		must.Do(t, cluster.Get(t.Context(), client.ObjectKey{Name: name + ".cluster.x-k8s.io"}, crd))
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range versions {
			entry, _ := each.(map[string]any)
			entry["served"], entry["storage"] = entry["name"] == version, entry["name"] == version
		}
		must.Do(t, unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
		must.Do(t, cluster.Update(t.Context(), crd))
	}
	for _, each := range []string{"v1beta1", "v1beta2"} {
		awaitServed(t, cluster, each, each == version)
	}
}

// awaitServed waits until a version of Cluster API is served, or not any more.
func awaitServed(t testing.TB, cluster client.Client, version string, want bool) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, Patience, true, func(ctx context.Context) (bool, error) {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("cluster.x-k8s.io/" + version)
		list.SetKind("MachineSetList")
		last = cluster.List(ctx, list)
		return (last == nil) == want, nil
	})
	if err != nil {
		t.Fatal(fmt.Errorf("list at %s, which is to be served: %t: %w", version, want, last))
	}
}
