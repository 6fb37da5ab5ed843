package olm

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// longestNote bounds the note of an event (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/).
const longestNote = 1024

// Record writes an event, of type Normal or Warning, about an object of OLM. That it could not be written is no error: the
// change that it tells of is made.
func (c Client) Record(ctx context.Context, namespace string, kind operator.Kind, name, kindOfEvent, reason, note string) {
	of := subscriptions
	if kind == operator.KindPlan {
		of = plans
	}
	about, err := c.Objects.Resource(of).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	if len(note) > longestNote {
		note = note[:longestNote]
	}
	event := object("events.k8s.io/v1", "Event", namespace, "", nil)
	event.SetGenerateName("tabard-")
	for field, value := range map[string]any{
		"regarding": map[string]any{"apiVersion": apiV1alpha1, "kind": string(kind), "namespace": namespace, "name": name, "uid": string(about.GetUID())},
		"reason":    reason, "note": note, "type": kindOfEvent, "action": "Approve",
		"reportingController": Manager, "reportingInstance": Manager,
		"eventTime": time.Now().UTC().Format(metav1.RFC3339Micro),
	} {
		event.Object[field] = value
	}
	_, _ = c.Objects.Resource(events).Namespace(namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: Manager})
}
