package webhookdeployment

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
)

// What the Cloud Credential Operator has, which is read and never written.
var (
	theirDeployment    = core.ID{Kind: core.Deployment, Namespace: core.TheirNamespace, Name: core.TheirName}
	theirConfiguration = core.ID{Kind: core.Configuration, Name: core.TheirName}
	infrastructure     = core.ID{Kind: "Infrastructure", Name: "cluster"}
)

// versions are those in which the kinds are read and written.
var versions = map[string]schema.GroupVersion{
	core.Deployment:     {Group: "apps", Version: "v1"},
	core.Service:        {Version: "v1"},
	core.Budget:         {Group: "policy", Version: "v1"},
	core.Configuration:  {Group: "admissionregistration.k8s.io", Version: "v1"},
	infrastructure.Kind: {Group: "config.openshift.io", Version: "v1"},
}

// empty is an object of a kind, without content.
func empty(id core.ID) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(versions[id.Kind].WithKind(id.Kind))
	object.SetNamespace(id.Namespace)
	object.SetName(id.Name)
	return object
}

// observe reads all objects.
func (c *Controller) observe(ctx context.Context) (core.World, error) {
	world := core.World{Wanted: c.wanted, Stored: map[core.ID]core.Object{}}
	for _, id := range c.wanted.IDs {
		stored, err := c.read(ctx, id)
		if err != nil {
			return world, err
		}
		if stored != nil {
			world.Stored[id] = stored
		}
	}
	var err error
	if world.TheirDeployment, err = c.read(ctx, theirDeployment); err != nil {
		return world, err
	}
	if world.TheirConfiguration, err = c.read(ctx, theirConfiguration); err != nil {
		return world, err
	}
	found, err := c.read(ctx, infrastructure)
	if err != nil {
		return world, err
	}
	world.Platform.InfrastructureTopology, _, _ = unstructured.NestedString(found, "status", "infrastructureTopology")
	world.Platform.ControlPlaneTopology, _, _ = unstructured.NestedString(found, "status", "controlPlaneTopology")
	return world, nil
}

// read is an object as stored, nil without one, and where its kind is not served.
func (c *Controller) read(ctx context.Context, id core.ID) (core.Object, error) {
	stored := empty(id)
	err := c.kit.Live.Get(ctx, client.ObjectKeyFromObject(stored), stored)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	return stored.Object, nil
}

// create makes an object by an apply without force, which writes over nobody's fields.
func (c *Controller) create(ctx context.Context, step core.Create) error {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(step.Object)); err != nil {
		return err
	}
	return c.kit.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(core.Owner))
}

// change stores an object as it shall be. It holds the resourceVersion that was seen,
// so that the API server refuses if somebody wrote in between.
func (c *Controller) change(ctx context.Context, step core.Change) error {
	merge := client.RawPatch(types.MergePatchType, []byte(step.Patch))
	changed := empty(step.ID)
	if err := c.kit.Client.Patch(ctx, changed, merge, client.FieldOwner(core.Owner)); err != nil {
		return err
	}
	c.announce(ctx, changed, corev1.EventTypeNormal, "DriftReverted", fmt.Sprintf("%s was not as the manifest has it, and was put back", step.ID))
	return nil
}

// remove deletes the object that was seen, and none that was made since.
func (c *Controller) remove(ctx context.Context, step core.Delete) error {
	uid := types.UID(step.UID)
	return client.IgnoreNotFound(c.kit.Client.Delete(ctx, empty(step.ID), client.Preconditions{UID: &uid}))
}

// one is the one thing there is to reconcile, whichever object changed.
var one = reconcile.Request{NamespacedName: types.NamespacedName{Name: Name}}

// first wakes the controller at its start: where none of the objects is there, no watch
// does.
func first(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	queue.Add(one)
	return nil
}

// watch wakes the controller by one object. It has a cache of its own, since a cache has
// one selector for a kind, and the controller may read these by name and no others.
func watch(mgr ctrl.Manager, id core.ID) (source.SyncingSource, error) {
	only := cache.ByObject{Field: named(id.Name)}
	if id.Namespace != "" {
		only = cache.ByObject{Namespaces: map[string]cache.Config{id.Namespace: {FieldSelector: named(id.Name)}}}
	}
	found, err := cache.New(mgr.GetConfig(), cache.Options{Scheme: mgr.GetScheme(), ByObject: map[client.Object]cache.ByObject{empty(id): only}})
	if err == nil {
		err = mgr.Add(found)
	}
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", id, err)
	}
	return source.Kind(found, empty(id), handler.TypedEnqueueRequestsFromMapFunc(
		func(context.Context, *unstructured.Unstructured) []reconcile.Request { return []reconcile.Request{one} })), nil
}

func named(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
