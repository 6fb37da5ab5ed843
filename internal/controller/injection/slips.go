package injection

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/injection"
)

// slipReason is the reason of events about what does not count as it is written.
const slipReason = "AnnotationIgnored"

// slips are those of all namespaces, and of the ServiceAccounts and pods that the webhook is
// asked about.
func (c *Controller) slips(hooks core.Hooks) (found []*core.Slip) {
	asks := func(namespace string, labels map[string]string) bool {
		seen := c.known.namespace(namespace)
		return seen != nil && hooks.Ask(seen.Labels, labels)
	}
	for _, account := range c.known.accounts.All() {
		if slip := c.examiner.AccountSlip(account); slip != nil && asks(account.Namespace, nil) {
			found = append(found, slip)
		}
	}
	for _, pod := range c.known.pods.All() {
		if slip := c.examiner.PodSlip(pod); slip != nil && (slip.IsOfSkipped || asks(pod.Namespace, pod.Labels)) {
			found = append(found, slip)
		}
	}
	for _, namespace := range c.known.namespaces.All() {
		if slip := core.NamespaceSlip(namespace); slip != nil {
			found = append(found, slip)
		}
	}
	return found
}

// tellSlips makes an event for each slip that has none. The error is that of the first
// that could not be made; it is tried again.
func (c *Controller) tellSlips(ctx context.Context, found []*core.Slip) error {
	news := core.News(found, c.toldSlips)
	still := make(map[core.SlipKey]struct{}, len(c.toldSlips)+len(news))
	for _, each := range found {
		if _, done := c.toldSlips[each.Key()]; done {
			still[each.Key()] = struct{}{}
		}
	}
	c.toldSlips = still
	var first error
	for _, each := range news {
		err := c.announceSlip(ctx, each)
		if c.options.Metrics.Made("Announce", err); err == nil {
			c.toldSlips[each.Key()] = struct{}{}
		} else if first == nil {
			first = fmt.Errorf("make an event for %s %s/%s: %w", each.Regarding.Kind, each.Regarding.Namespace, each.Regarding.Name, err)
		}
	}
	return first
}

// announceSlip makes the event of a slip.
func (c *Controller) announceSlip(ctx context.Context, slip *core.Slip) error {
	made, err := c.create(ctx, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: slip.Regarding.Namespace, Name: slip.EventName()},
		Reason:     slipReason,
		Regarding:  slip.Regarding,
		Note:       controller.Shorten(slip.Note, "docs/webhook.md"),
	})
	if made {
		log.FromContext(ctx).Info("what somebody wrote does not count", "kind", slip.Regarding.Kind, "namespace", slip.Regarding.Namespace, "name", slip.Regarding.Name)
	}
	return err
}

// create makes an event of the controller's. One that is there already, or whose namespace
// goes, needs none.
func (c *Controller) create(ctx context.Context, event *eventsv1.Event) (made bool, err error) {
	event.EventTime = metav1.NewMicroTime(time.Now())
	event.ReportingController, event.ReportingInstance = Name, c.options.Instance
	event.Type, event.Action = corev1.EventTypeWarning, "Examine"
	_, err = c.client.EventsV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	if needless(err) {
		return false, nil
	}
	return err == nil, err
}
