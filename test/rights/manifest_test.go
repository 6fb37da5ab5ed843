package rights

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// shipped is an object of webhook.yaml.
func shipped(t testing.TB, kind, name string) *unstructured.Unstructured {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "config/manifests/webhook.yaml")))(t)
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		must.Do(t, yaml.Unmarshal([]byte(document), &object.Object))
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("webhook.yaml has no %s %s", kind, name)
	return nil
}

// apply writes an object with server-side apply, by which an account makes what RBAC
// lets it make by name.
func apply(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("attack"), client.ForceOwnership)
}

// reference is an object by its name alone.
func reference(version, kind, namespace, name string) func() client.Object {
	return func() client.Object {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(version)
		object.SetKind(kind)
		object.SetNamespace(namespace)
		object.SetName(name)
		return object
	}
}

// remove deletes an object.
func remove(target func() client.Object) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.Delete(ctx, target()) }
}
