package kube

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/roleselector"
)

// The types of the conditions that a role's selection has a say in. All but the
// last are those of ACK.
const (
	// ConditionSelected says which role the resource is managed with, or why none.
	ConditionSelected = "ACK.IAMRoleSelected"
	// ConditionRecoverable: nothing is done until somebody changes something.
	ConditionRecoverable = "ACK.Recoverable"
	// ConditionSynced: whether the resource in AWS is what the object says.
	ConditionSynced = "ACK.ResourceSynced"
	// ConditionReady sums up the others.
	ConditionReady = "Ready"
	// ConditionAccountChangePending: the resource is deleted soon, or now, and made
	// anew in another account. When it was set tells how long that has been announced.
	ConditionAccountChangePending = "AccountChangePending"
)

// ReasonIAMRoleSelectorConflict is the reason of ConditionRecoverable for a
// conflict.
const ReasonIAMRoleSelectorConflict = "IAMRoleSelectorConflict"

// Conditions are what a resource's status says of a decision and of what follows
// from it. If AWS may be called that is ConditionSelected alone: the others are
// for the calls to say. No message changes as long as the decision does not. Enter
// them with Merge.
func Conditions(d roleselector.Decision, c roleselector.Course) []metav1.Condition {
	switch {
	case c.Step == roleselector.DeleteBeforeMove:
		return []metav1.Condition{condition(ConditionSelected, metav1.ConditionTrue, string(roleselector.ReasonSelected), detail(c.Selector)), announcement(c)}
	case c.Step != roleselector.GoOn:
		return blocked(d, c)
	case c.Selector == (roleselector.Reference{}):
		return []metav1.Condition{condition(ConditionSelected, metav1.ConditionFalse, string(roleselector.ReasonNoSelector), c.Message)}
	}
	return []metav1.Condition{condition(ConditionSelected, metav1.ConditionTrue, string(roleselector.ReasonSelected), detail(c.Selector))}
}

// detail has the words that ACK's controllers write, for who searches for them.
// The generation is what tells whether the selector says something else: the
// resource version changes with its labels too.
func detail(s roleselector.Reference) string {
	return fmt.Sprintf("roleARN: %s, selectorName: %s, selectorResourceVersion: %s, selectorGeneration: %d",
		s.ARN, s.Name, s.ResourceVersion, s.Generation)
}

func blocked(d roleselector.Decision, c roleselector.Course) []metav1.Condition {
	reason, selected := string(c.Reason), metav1.ConditionFalse
	recoverable := reason
	if c.Reason == roleselector.ReasonConflict {
		recoverable = ReasonIAMRoleSelectorConflict
	}
	if d.Outcome == roleselector.NotYetKnown {
		selected = metav1.ConditionUnknown
	}
	conditions := []metav1.Condition{
		condition(ConditionRecoverable, metav1.ConditionTrue, recoverable, c.Message),
		condition(ConditionSelected, selected, reason, c.Message),
		condition(ConditionSynced, metav1.ConditionUnknown, recoverable, c.Message),
		condition(ConditionReady, metav1.ConditionFalse, ConditionRecoverable, c.Message),
	}
	if c.Step == roleselector.AccountChangePending {
		conditions = append(conditions, announcement(c))
	}
	return conditions
}

// announcement stays until the change is made: when it was set is what makes it due.
func announcement(c roleselector.Course) metav1.Condition {
	return condition(ConditionAccountChangePending, metav1.ConditionTrue, string(c.Reason), c.Message)
}

// Announced is what roleselector.Situation wants to know of a change of account: the
// message of the announcement among a status's conditions, if that was made a whole
// resync ago. Times in a status have whole seconds, so it may be one younger than
// that says.
func Announced(conditions []metav1.Condition, now time.Time, resync time.Duration) string {
	c := meta.FindStatusCondition(conditions, ConditionAccountChangePending)
	if c == nil || c.Status != metav1.ConditionTrue || now.Sub(c.LastTransitionTime.Time) < resync+time.Second {
		return ""
	}
	return c.Message
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// Merge enters conditions into those that a status has, and returns the list that
// it should have. A condition of selection that is not wanted any longer goes. A
// transition time changes with the status alone, but for the announcement of another
// change of account, and that the selector has only another resource version changes
// nothing. Neither list is changed.
func Merge(have, want []metav1.Condition, now metav1.Time) []metav1.Condition {
	merged := slices.DeleteFunc(slices.Clone(have), func(c metav1.Condition) bool {
		wanted := meta.FindStatusCondition(want, c.Type)
		return wanted == nil && isOfSelection(c) || wanted != nil && c.Type == ConditionAccountChangePending && wanted.Message != c.Message
	})
	for _, c := range want {
		if old := meta.FindStatusCondition(have, c.Type); old != nil && saysSame(*old, c) && old.ObservedGeneration == c.ObservedGeneration {
			continue
		}
		c.LastTransitionTime = now
		meta.SetStatusCondition(&merged, c)
	}
	return merged
}

// isOfSelection says that a condition is there only while selection blocks. The
// others are set by every reconcile that gets on.
func isOfSelection(c metav1.Condition) bool {
	return c.Type == ConditionAccountChangePending || c.Type == ConditionRecoverable && slices.Contains(blockingReasons, c.Reason)
}

// blockingReasons are those that blocked writes into ConditionRecoverable.
var blockingReasons = []string{
	ReasonIAMRoleSelectorConflict,
	string(roleselector.ReasonDenied), string(roleselector.ReasonChoiceNotPermitted),
	string(roleselector.ReasonAmbiguousChoice), string(roleselector.ReasonNoSelectorPolicy),
	string(roleselector.ReasonSelectorInvalid), string(roleselector.ReasonAssumeRoleInputInvalid),
	string(roleselector.ReasonChoiceInvalid), string(roleselector.ReasonTypeUnknown),
	string(roleselector.ReasonNotSynced), string(roleselector.ReasonNamespaceUnknown),
	string(roleselector.ReasonAccountMismatch), string(roleselector.ReasonRegionMismatch),
	string(roleselector.ReasonSelectorGone), string(roleselector.ReasonAccountChangePending),
	string(roleselector.ReasonTooManySessions),
}

var resourceVersion = regexp.MustCompile(`selectorResourceVersion: [^,]*`)

// saysSame says that two conditions tell the same of a role, for whatever
// generation of the resource they were found.
func saysSame(a, b metav1.Condition) bool {
	return a.Status == b.Status && a.Reason == b.Reason &&
		resourceVersion.ReplaceAllString(a.Message, "") == resourceVersion.ReplaceAllString(b.Message, "")
}

// Event is what a recorder is told of a change of role.
type Event struct {
	// Type is Normal or Warning.
	Type            string
	Reason, Message string
}

// Transition is the event that the conditions of a decision are worth, if they say
// something else of the role than the status does. That nothing is known yet is
// worth none.
func Transition(have, want []metav1.Condition) (event Event, changed bool) {
	now := meta.FindStatusCondition(want, ConditionSelected)
	if now == nil || now.Status == metav1.ConditionUnknown {
		return Event{}, false
	}
	old := meta.FindStatusCondition(have, ConditionSelected)
	if old != nil && saysSame(*old, *now) {
		return Event{}, false
	}
	event = Event{Type: corev1.EventTypeNormal, Reason: now.Reason, Message: now.Message}
	if stopped := meta.FindStatusCondition(want, ConditionRecoverable); stopped != nil {
		event.Type, event.Reason = corev1.EventTypeWarning, stopped.Reason
	}
	if old != nil {
		event.Message += fmt.Sprintf(" (before: %s, %s)", old.Reason, old.Message)
	}
	return event, true
}
