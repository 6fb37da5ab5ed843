package certificate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// work is the one step of a plan, if it has one.
func (c *Controller) work(seen observation, plan core.Plan) controller.Work[core.Step] {
	work := controller.Work[core.Step]{Again: plan.Again, Do: func(ctx context.Context, step core.Step) error {
		if err := c.perform(ctx, seen, step); err != nil {
			return fmt.Errorf("perform %T: %w", step, err)
		}
		c.Metrics.performed(step, seen.world)
		return nil
	}}
	if plan.Step != nil {
		work.Steps = []core.Step{plan.Step}
	}
	return work
}

// perform makes one step. A conflict means that somebody else wrote in between.
func (c *Controller) perform(ctx context.Context, seen observation, step core.Step) error {
	from := seen.authority.Data
	switch step := step.(type) {
	case core.PutBundle:
		return c.patchBundles(ctx, &seen.configuration, len(seen.configuration.Webhooks), step.Bundle)
	case core.Probe:
		return c.look(ctx, seen, step)
	case core.Publish:
		return c.store(ctx, c.Secret, &seen.secret, core.Published(from))
	case core.TakeOver:
		from = seen.world.Handover()
	case core.IssueAll, core.IssueAuthority, core.DropExpired, core.IssueProbe, core.IssueServing:
	default:
		return controller.UnknownStep(step)
	}
	data, err := core.Apply(step, from, seen.world.Now, c.Entropy)
	if err != nil {
		return err
	}
	return c.store(ctx, c.Authority, &seen.authority, data)
}

// look asks every API server, and remembers what was seen. What could not be seen
// is part of that, not an error.
func (c *Controller) look(ctx context.Context, seen observation, step core.Probe) error {
	found := c.Probe.Look(ctx, step.Certificate, labelsFor(either(c.ProbeValue, probeValue), seen.configuration.Webhooks))
	if err := ctx.Err(); err != nil {
		return err // the process ends: that says nothing of the API servers
	}
	if !slices.Equal(found, c.memory.Proof.Servers) {
		log.FromContext(ctx).Info("looked whether the API servers trust the new CA", "found", found)
	}
	c.memory.Proof = c.memory.Proof.After(step.Certificate, c.Now(), found)
	return nil
}

// store writes a Secret as it was read but for content and mark. The
// resourceVersion that it carries makes the API server refuse if it has changed.
func (c *Controller) store(ctx context.Context, name types.NamespacedName, seen *corev1.Secret, data map[string][]byte) error {
	secret := seen.DeepCopy()
	secret.Data = data
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[core.MarkLabel] = core.MarkValue
	if secret.ResourceVersion != "" {
		return c.Host.Update(ctx, secret)
	}
	secret.Namespace, secret.Name = name.Namespace, name.Name
	secret.Type = corev1.SecretTypeTLS
	return c.Host.Create(ctx, secret)
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patchBundles changes the caBundle of each hook of a webhook configuration and
// nothing else. Hooks are known by their place, so the resourceVersion must still be
// the one that was read.
func (c *Controller) patchBundles(ctx context.Context, configuration client.Object, hooks int, bundle string) error {
	patch := []operation{{Op: "replace", Path: "/metadata/resourceVersion", Value: configuration.GetResourceVersion()}}
	for i := range hooks {
		patch = append(patch, operation{Op: "add", Path: fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i), Value: []byte(bundle)})
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("write the patch: %w", err)
	}
	target := configuration.DeepCopyObject().(client.Object)
	return c.Served.Patch(ctx, target, client.RawPatch(types.JSONPatchType, text))
}
