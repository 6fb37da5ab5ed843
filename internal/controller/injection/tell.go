package injection

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/injection"
)

// reason is that of the events.
const reason = "IdentityMissing"

// tell makes an event for each pod that has none. One that cannot be made keeps
// none of the others from theirs, and is tried again: the error says how many there
// are, and why of the first.
func (c *Controller) tell(ctx context.Context, found []*core.Finding) error {
	before := c.told
	c.told = make(map[types.UID]struct{}, len(found))
	var failed int
	var first error
	for _, each := range found {
		if _, done := before[each.UID]; !done {
			err := c.announce(ctx, each)
			if c.options.Metrics.Made("Announce", err); err != nil {
				failed++
				if first == nil {
					first = fmt.Errorf("make an event for pod %s: %w", each.Pod, err)
				}
				continue
			}
		}
		c.told[each.UID] = struct{}{}
	}
	if failed > 0 {
		return fmt.Errorf("%d events could not be made: %w", failed, first)
	}
	return nil
}

// announce makes the event of a pod. It has a name that follows from the pod, so that
// there is one, whichever process looks, and however often it starts.
func (c *Controller) announce(ctx context.Context, found *core.Finding) error {
	made, err := c.create(ctx, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: found.Pod.Namespace, Name: "identity-missing." + string(found.UID)},
		Reason:     reason,
		Regarding: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: found.Pod.Namespace, Name: found.Pod.Name, UID: found.UID,
		},
		Note: controller.Shorten(found.Note(c.options.Namespace), "docs/webhook.md"),
	})
	if made {
		log.FromContext(ctx).Info("a pod runs without its identity", "pod", found.Pod.String(), "serviceAccount", found.Account, "cause", found.Cause)
	}
	return err
}

// needless says that an event is there already, or that its namespace goes.
func needless(err error) bool {
	return apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
