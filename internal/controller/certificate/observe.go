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

	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// observation is what a pass has read.
type observation struct {
	world core.World
	// secret is as stored, empty without one.
	secret corev1.Secret
	// configuration is as stored, empty without one.
	configuration admissionv1.MutatingWebhookConfiguration
}

// observe reads both objects.
func (c *Controller) observe(ctx context.Context) (observation, error) {
	seen := observation{world: core.World{Now: c.Now()}}
	err := c.Served.Get(ctx, types.NamespacedName{Name: c.Configuration}, &seen.configuration)
	if client.IgnoreNotFound(err) != nil {
		return seen, fmt.Errorf("read MutatingWebhookConfiguration %s: %w", c.Configuration, err)
	}
	err = c.Host.Get(ctx, c.Secret, &seen.secret)
	if client.IgnoreNotFound(err) != nil {
		return seen, fmt.Errorf("read Secret %s: %w", c.Secret, err)
	}
	for _, hook := range seen.configuration.Webhooks {
		seen.world.Hooks = append(seen.world.Hooks, core.NewHook(hook.Name, hook.ClientConfig))
	}
	seen.world.Secret = core.Secret{Ours: core.IsOurs(seen.secret.Labels, seen.secret.Annotations), Data: seen.secret.Data}
	seen.world.Injector = core.InjectorOf(seen.configuration.Annotations)
	c.memory = c.memory.Seeing(seen.world.Hooks, seen.world.Now)
	seen.world.Memory = c.memory
	return seen, nil
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

// watches makes caches of just the two objects, run by the manager.
func (c *Controller) watches(mgr ctrl.Manager, host *rest.Config) (secrets, configurations cache.Cache, err error) {
	secrets, err = cache.New(host, cache.Options{Scheme: mgr.GetScheme(), ByObject: map[client.Object]cache.ByObject{
		&corev1.Secret{}: {Namespaces: map[string]cache.Config{c.Secret.Namespace: {FieldSelector: named(c.Secret.Name)}}},
	}})
	if err != nil {
		return nil, nil, fmt.Errorf("watch Secret %s: %w", c.Secret, err)
	}
	configurations, err = cache.New(mgr.GetConfig(), cache.Options{Scheme: mgr.GetScheme(), ByObject: map[client.Object]cache.ByObject{
		&admissionv1.MutatingWebhookConfiguration{}: {Field: named(c.Configuration)},
	}})
	if err != nil {
		return nil, nil, fmt.Errorf("watch MutatingWebhookConfiguration %s: %w", c.Configuration, err)
	}
	if err := mgr.Add(secrets); err != nil {
		return nil, nil, fmt.Errorf("run the watch of Secret %s: %w", c.Secret, err)
	}
	if err := mgr.Add(configurations); err != nil {
		return nil, nil, fmt.Errorf("run the watch of MutatingWebhookConfiguration %s: %w", c.Configuration, err)
	}
	return secrets, configurations, nil
}

func named(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
