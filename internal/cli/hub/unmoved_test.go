package hub

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// overtaken is a client whose first writes come just after somebody else's.
type overtaken struct {
	client.Client
	times int
	other func(context.Context) error
}

func (o *overtaken) first(ctx context.Context) error {
	if o.times--; o.times < 0 {
		return nil
	}
	return o.other(ctx)
}

func (o *overtaken) Apply(ctx context.Context, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	if err := o.first(ctx); err != nil {
		return err
	}
	return o.Client.Apply(ctx, object, options...)
}

func (o *overtaken) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	if err := o.first(ctx); err != nil {
		return err
	}
	return o.Client.Update(ctx, object, options...)
}

// manager makes a ClusterManager, if there is none, and reads it as "tabard hub init" does.
func (c *typed) manager() map[string]any {
	c.Helper()
	must.Do(c, client.IgnoreAlreadyExists(c.Create(c.Context(), theManager.empty())))
	existing, _, err := theManager.look(c.Context(), c.WithWatch, images{})
	must.Do(c, err)
	return existing
}

// merge changes an object as another program does.
func (c *typed) merge(object *unstructured.Unstructured, patch string, options ...client.PatchOption) func(context.Context) error {
	return func(ctx context.Context) error {
		return c.Patch(ctx, object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)), options...)
	}
}

// TestAnObjectWhoseStatusMovesIsWritten: Open Cluster Management's operator writes the status of a
// ClusterManager whenever it likes, and finalizers.
func TestAnObjectWhoseStatusMovesIsWritten(t *testing.T) {
	c := startTyped(t, "cluster-manager", "kubernetes")
	existing := c.manager()
	wanted := core.Init{Drivers: []string{core.DriverCSR}}.ClusterManager(existing, core.Images{})
	busy := &overtaken{Client: c.WithWatch, times: 2}
	busy.other = func(ctx context.Context) error {
		if err := c.merge(theManager.empty(), `{"metadata":{"finalizers":["example.com/operator"]}}`)(ctx); err != nil {
			return err
		}
		status := theManager.empty()
		must.Do(t, c.Get(ctx, client.ObjectKeyFromObject(status), status))
		must.Do(t, unstructured.SetNestedField(status.Object, int64(busy.times+1), "status", "observedGeneration"))
		return c.Status().Update(ctx, status)
	}
	after, err := applyOver(t.Context(), busy, existing, wanted, false)
	if err != nil || len(driversIn(after)) != 1 {
		t.Errorf("drivers %v, error %v; want the ClusterManager written", driversIn(after), err)
	}
	if finalizers, _, _ := unstructured.NestedSlice(after, "metadata", "finalizers"); len(finalizers) != 1 {
		t.Errorf("the finalizers are %v, want the operator's", finalizers)
	}
}

// TestAnObjectWhoseSpecMovesIsLeft, and one that was made anew.
func TestAnObjectWhoseSpecMovesIsLeft(t *testing.T) {
	c := startTyped(t, "cluster-manager", "kubernetes")
	others := map[string]func(context.Context) error{
		"changed": c.merge(theManager.empty(), `{"spec":{"registrationImagePullSpec":"mirror.example/registration:1"}}`),
		"made anew": func(ctx context.Context) error {
			return cmp.Or(c.Delete(ctx, theManager.empty()), c.Create(ctx, theManager.empty()))
		},
		"deleted": func(ctx context.Context) error { return c.Delete(ctx, theManager.empty()) },
	}
	for name, other := range others {
		existing := c.manager()
		wanted := core.Init{Drivers: []string{core.DriverCSR}}.ClusterManager(existing, core.Images{})
		_, err := applyOver(t.Context(), &overtaken{Client: c.WithWatch, times: 1, other: other}, existing, wanted, false)
		if err == nil || !strings.Contains(err.Error(), "ClusterManager cluster-manager was changed by somebody else in between: run the command again") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestADefinitionWhoseMetadataMovesIsWritten: the API server and others write to definitions.
func TestADefinitionWhoseMetadataMovesIsWritten(t *testing.T) {
	c := startTyped(t, "cluster-manager", "kubernetes")
	f := fields{cluster: Cluster{Client: c.WithWatch}, apply: true}
	definition := must.Get(f.definition(t.Context(), core.ManagerDefinition))(t)
	changes := must.Get(f.plan(t.Context(), definition))(t)
	f.cluster.Client = &overtaken{Client: c.WithWatch, times: 1, other: c.merge(definition, `{"metadata":{"annotations":{"example.com/kept":"yes"}}}`)}
	must.Do(t, f.write(t.Context(), definition, changes))
	stored := must.Get(f.definition(t.Context(), core.ManagerDefinition))(t)
	if left := must.Get(f.plan(t.Context(), stored))(t); len(left) > 0 || stored.GetAnnotations()["example.com/kept"] != "yes" {
		t.Errorf("left to change: %v; annotations %v", left, stored.GetAnnotations())
	}
}
