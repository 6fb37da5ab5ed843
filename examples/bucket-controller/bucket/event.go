package bucket

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/tabard-dev/tabard/roleselector/kube"
)

// Events are those of a change of status: one for another role, or for why there is
// none, one for each other trouble that begins or becomes another, one where all is
// well again, and one for a bucket that is gone for a change of account.
func Events(before, after Status) []kube.Event {
	var events []kube.Event
	selection, changed := kube.Transition(before.Conditions, after.Conditions)
	if changed {
		events = append(events, selection)
	}
	for _, kind := range []string{kube.ConditionRecoverable, Terminal, Advisory} {
		was, is := meta.FindStatusCondition(before.Conditions, kind), meta.FindStatusCondition(after.Conditions, kind)
		if is != nil && (was == nil || was.Reason != is.Reason) && is.Reason != selection.Reason {
			events = append(events, kube.Event{Type: corev1.EventTypeWarning, Reason: is.Reason, Message: is.Message})
		}
	}
	if isReady(after) && !isReady(before) {
		events = append(events, kube.Event{Type: corev1.EventTypeNormal, Reason: "Synced", Message: "The bucket is as it is wanted."})
	}
	if left := before.ACKResourceMetadata; left != nil && left.ARN != "" && after.ACKResourceMetadata == nil {
		events = append(events, kube.Event{Type: corev1.EventTypeNormal, Reason: "AccountLeft", Message: fmt.Sprintf(
			"The bucket %s is gone from the account %s, and is made anew in another.", left.ARN, left.OwnerAccountID)})
	}
	return events
}

func isReady(s Status) bool { return meta.IsStatusConditionTrue(s.Conditions, kube.ConditionReady) }
