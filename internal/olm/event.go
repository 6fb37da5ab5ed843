package olm

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// LongestNote is how many bytes the note of an event may have (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/).
const LongestNote = 1024

// About is the object of an event: a Subscription or an InstallPlan.
type About struct {
	Kind            operator.Kind
	Namespace, Name string
}

// Record writes an event, of type Normal or Warning, about an object of OLM.
func (c Client) Record(ctx context.Context, of About, kind, reason, note string) error {
	resource := subscriptions
	if of.Kind == operator.KindPlan {
		resource = plans
	}
	about, err := c.Objects.Resource(resource).Namespace(of.Namespace).Get(ctx, of.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("the event %s could not be written: %w", reason, err)
	}
	event := told(of, string(about.GetUID()), kind, reason, note, "Approve")
	event.SetGenerateName("tabard-")
	if _, err = c.Objects.Resource(events).Namespace(of.Namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: Manager}); err != nil {
		return fmt.Errorf("the event %s could not be written: %w", reason, err)
	}
	return nil
}

// Tell writes an event about a Subscription, as one of a name. One of this name that is there says
// the same and stays.
func (c Client) Tell(ctx context.Context, t operator.Told) error {
	event := told(About{operator.KindSubscription, t.Subscription.Namespace, t.Subscription.Name}, t.Subscription.UID, t.Kind, t.Reason, t.Note, "Check")
	event.SetName(t.Name())
	_, err := c.Objects.Resource(events).Namespace(t.Subscription.Namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: Manager})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// told is an event without a name.
func told(of About, uid, kind, reason, note, action string) *unstructured.Unstructured {
	if len(note) > LongestNote {
		note = strings.ToValidUTF8(note[:LongestNote], "")
	}
	event := object("events.k8s.io/v1", "Event", of.Namespace, "", nil)
	for field, value := range map[string]any{
		"regarding": map[string]any{"apiVersion": apiV1alpha1, "kind": string(of.Kind), "namespace": of.Namespace, "name": of.Name, "uid": uid},
		"reason":    reason, "note": note, "type": kind, "action": action,
		"reportingController": Manager, "reportingInstance": Manager,
		"eventTime": time.Now().UTC().Format(metav1.RFC3339Micro),
	} {
		event.Object[field] = value
	}
	return event
}
