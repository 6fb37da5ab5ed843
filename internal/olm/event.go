package olm

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	event := told(kind, namespace, name, string(about.GetUID()), kindOfEvent, reason, note, "Approve")
	event.SetGenerateName("tabard-")
	_, _ = c.Objects.Resource(events).Namespace(namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: Manager})
}

// Tell writes an event about a Subscription, as one of a name. One of this name that is there says
// the same and stays.
func (c Client) Tell(ctx context.Context, t operator.Told) error {
	event := told(operator.KindSubscription, t.Subscription.Namespace, t.Subscription.Name, t.Subscription.UID, t.Kind, t.Reason, t.Note, "Check")
	event.SetName(t.Name())
	_, err := c.Objects.Resource(events).Namespace(t.Subscription.Namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: Manager})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// told is an event without a name.
func told(kind operator.Kind, namespace, name, uid, kindOfEvent, reason, note, action string) *unstructured.Unstructured {
	if len(note) > longestNote {
		note = strings.ToValidUTF8(note[:longestNote], "")
	}
	event := object("events.k8s.io/v1", "Event", namespace, "", nil)
	for field, value := range map[string]any{
		"regarding": map[string]any{"apiVersion": apiV1alpha1, "kind": string(kind), "namespace": namespace, "name": name, "uid": uid},
		"reason":    reason, "note": note, "type": kindOfEvent, "action": action,
		"reportingController": Manager, "reportingInstance": Manager,
		"eventTime": time.Now().UTC().Format(metav1.RFC3339Micro),
	} {
		event.Object[field] = value
	}
	return event
}
