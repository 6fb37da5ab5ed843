package certificate

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// observation is what a pass has read.
type observation struct {
	world core.World
	// authority and secret are as stored, empty without one.
	authority, secret corev1.Secret
	// configuration is as stored, empty without one.
	configuration admissionv1.MutatingWebhookConfiguration
}

// observe reads all objects.
func (c *Controller) observe(ctx context.Context) (observation, error) {
	seen := observation{world: core.World{Now: c.Now()}}
	err := c.Served.Get(ctx, types.NamespacedName{Name: c.Configuration}, &seen.configuration)
	if client.IgnoreNotFound(err) != nil {
		return seen, fmt.Errorf("read MutatingWebhookConfiguration %s: %w", c.Configuration, err)
	}
	if seen.world.Secret, err = c.read(ctx, c.Authority, &seen.authority); err != nil {
		return seen, err
	}
	if seen.world.Served, err = c.read(ctx, c.Secret, &seen.secret); err != nil {
		return seen, err
	}
	if seen.authority.UID == "" && seen.secret.UID == "" && c.Previous.Name != "" {
		if seen.world.Previous, err = c.read(ctx, c.Previous, &corev1.Secret{}); err != nil {
			return seen, err
		}
	}
	for _, hook := range seen.configuration.Webhooks {
		seen.world.Hooks = append(seen.world.Hooks, core.NewHook(hook.Name, hook.ClientConfig))
	}
	seen.world.Injector = core.InjectorOf(seen.configuration.Annotations)
	c.memory = c.memory.Seeing(seen.world.Hooks, seen.world.Now)
	seen.world.Memory = c.memory
	return seen, nil
}

// read is a Secret as stored, and what matters of it.
func (c *Controller) read(ctx context.Context, name types.NamespacedName, into *corev1.Secret) (core.Secret, error) {
	if err := c.Host.Get(ctx, name, into); client.IgnoreNotFound(err) != nil {
		return core.Secret{}, fmt.Errorf("read Secret %s: %w", name, err)
	}
	return core.Secret{Ours: core.IsOurs(into.Labels, into.Annotations), Data: into.Data}, nil
}

// connect makes clients that read past the manager's cache: the controller may
// read its objects by name and no others, and a cache would watch all.
func (c *Controller) connect(mgr ctrl.Manager, host *rest.Config) (err error) {
	if c.Host, err = client.New(host, client.Options{Scheme: mgr.GetScheme()}); err != nil {
		return fmt.Errorf("make a client for the Secret: %w", err)
	}
	if c.Served, err = client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme()}); err != nil {
		return fmt.Errorf("make a client for the webhook configuration: %w", err)
	}
	return nil
}

// watches are of just these objects, each by a cache of its own that the manager runs:
// a cache has one selector for a kind.
func (c *Controller) watches(mgr ctrl.Manager, host *rest.Config) ([]source.Source, error) {
	authority, err := watch(c, mgr, host, &corev1.Secret{}, c.Authority)
	if err != nil {
		return nil, err
	}
	secret, err := watch(c, mgr, host, &corev1.Secret{}, c.Secret)
	if err != nil {
		return nil, err
	}
	configuration, err := watch(c, mgr, mgr.GetConfig(), &admissionv1.MutatingWebhookConfiguration{}, types.NamespacedName{Name: c.Configuration})
	if err != nil {
		return nil, err
	}
	sources := []source.Source{authority, secret, configuration}
	if c.Validating == "" {
		return sources, nil
	}
	follower, err := watch(c, mgr, mgr.GetConfig(), &admissionv1.ValidatingWebhookConfiguration{}, types.NamespacedName{Name: c.Validating})
	if err != nil {
		return nil, err
	}
	return append(sources, unawaited{follower}), nil
}

// watch wakes the controller by one object.
func watch[T client.Object](c *Controller, mgr ctrl.Manager, at *rest.Config, kind T, name types.NamespacedName) (source.SyncingSource, error) {
	only := cache.ByObject{Field: named(name.Name)}
	if name.Namespace != "" {
		only = cache.ByObject{Namespaces: map[string]cache.Config{name.Namespace: {FieldSelector: named(name.Name)}}}
	}
	found, err := cache.New(at, cache.Options{Scheme: mgr.GetScheme(), ByObject: map[client.Object]cache.ByObject{kind: only}})
	if err == nil {
		err = mgr.Add(found)
	}
	if err != nil {
		return nil, fmt.Errorf("watch %T %s: %w", kind, name, err)
	}
	return source.Kind(found, kind, handler.TypedEnqueueRequestsFromMapFunc(
		func(context.Context, T) []reconcile.Request { return c.request() })), nil
}

func named(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
