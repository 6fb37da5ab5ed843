package certificate

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// followAgain is how soon a follower that could not be changed is tried again.
const followAgain = time.Minute

// follow makes the API servers trust the same authorities by the hooks of the
// ValidatingWebhookConfiguration. It returns when to try again, zero for never.
// What fails here is no reason to leave pods without identity, so that it ends no
// pass: the log tells.
func (c *Controller) follow(ctx context.Context, world core.World) time.Duration {
	err := c.tryFollow(ctx, world)
	switch {
	case err == nil:
		return 0
	case apierrors.IsConflict(err):
		return time.Second // somebody wrote in between
	}
	log.FromContext(ctx).Error(err, "the other webhook configuration stays as it was; it is tried again")
	return followAgain
}

func (c *Controller) tryFollow(ctx context.Context, world core.World) error {
	if c.Validating == "" {
		return nil
	}
	var stored admissionv1.ValidatingWebhookConfiguration
	err := c.Served.Get(ctx, types.NamespacedName{Name: c.Validating}, &stored)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ValidatingWebhookConfiguration %s: %w", c.Validating, err)
	}
	follower := core.Follower{Injector: core.InjectorOf(stored.Annotations)}
	for _, hook := range stored.Webhooks {
		follower.Hooks = append(follower.Hooks, core.NewHook(hook.Name, hook.ClientConfig))
	}
	step, notice := core.Follow(world, follower)
	if step == nil {
		return nil
	}
	if err := c.patchBundles(ctx, &stored, len(stored.Webhooks), step.Bundle); err != nil {
		return fmt.Errorf("set the caBundle of ValidatingWebhookConfiguration %s: %w", c.Validating, err)
	}
	log.FromContext(ctx).Info("the other webhook configuration trusts the CA of the Secret", "configuration", c.Validating)
	if notice.Reason != "" {
		c.announce(ctx, &stored, notice)
	}
	return nil
}

// unawaited hides that a source can be waited for: a follower that may not be read
// keeps the controller from nothing, and a second controller not the first.
type unawaited struct{ source.Source }

// earlier is the time that comes first, of two of which zero is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}
