// Package condition is what a controller says of an object: verdicts on what a pass
// has seen, the conditions that store them, and the list of reasons that explains
// them to people. It does no I/O and asks no clock.
package condition

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reason is the machine-readable state that a condition gives, in PascalCase. Those
// of a kind are a closed list: each is explained in its Kind.
type Reason string

// Verdict is what one condition is to say. Its message holds what was seen, what is
// expected and what to do, and nothing that changes from attempt to attempt: see
// Steady.
type Verdict struct {
	Status  metav1.ConditionStatus
	Reason  Reason
	Message string
}

// Yes is the verdict that a condition holds.
func Yes(reason Reason, format string, args ...any) Verdict {
	return Verdict{metav1.ConditionTrue, reason, fmt.Sprintf(format, args...)}
}

// No is the verdict that a condition does not hold.
func No(reason Reason, format string, args ...any) Verdict {
	return Verdict{metav1.ConditionFalse, reason, fmt.Sprintf(format, args...)}
}

// Unknown is the verdict that it could not be seen whether a condition holds.
func Unknown(reason Reason, format string, args ...any) Verdict {
	return Verdict{metav1.ConditionUnknown, reason, fmt.Sprintf(format, args...)}
}

// IsTrue says that the condition holds.
func (v Verdict) IsTrue() bool { return v.Status == metav1.ConditionTrue }

// Named is the verdict of one condition type.
type Named struct {
	Type string
	Verdict
}

// List makes the conditions to store of the verdicts of a pass. The time of a
// transition moves when the status differs from the stored one, and only then. Stored
// conditions of other types are left out: each pass says all that there is to say.
func List(stored []metav1.Condition, generation int64, now time.Time, verdicts ...Named) []metav1.Condition {
	out := make([]metav1.Condition, 0, len(verdicts))
	for _, v := range verdicts {
		since := Instant(now)
		if old := meta.FindStatusCondition(stored, v.Type); old != nil && old.Status == v.Status {
			since = old.LastTransitionTime
		}
		out = append(out, metav1.Condition{
			Type: v.Type, Status: v.Status, Reason: string(v.Reason), Message: v.Message,
			ObservedGeneration: generation, LastTransitionTime: since,
		})
	}
	return out
}

// Read reads a verdict back. Without such a condition ok is false.
func Read(stored []metav1.Condition, kind string) (v Verdict, ok bool) {
	c := meta.FindStatusCondition(stored, kind)
	if c == nil {
		return Verdict{}, false
	}
	return Verdict{c.Status, Reason(c.Reason), c.Message}, true
}

// Broken is what Ready says of the links of a chain: the first that is False, else the
// first that is Unknown. It names the link. Without either ok is false.
func Broken(links ...Named) (v Verdict, ok bool) {
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, link := range links {
			if link.Status == status {
				return Verdict{status, link.Reason, link.Type + ": " + link.Message}, true
			}
		}
	}
	return Verdict{}, false
}

// Instant is a time as the API server keeps it: whole seconds, in UTC.
func Instant(t time.Time) metav1.Time { return metav1.NewTime(t.UTC().Truncate(time.Second)) }
