package credentials

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

// verdicts are what a pass found, one for each condition. One that was not reached is
// zero.
type verdicts struct {
	accepted, role, delivered condition.Verdict
	// left is what is said of what the request had before; empty for nothing.
	left string
	// static and blocked are nil where there is nothing to tell.
	static, blocked *condition.Verdict
	// foreign is what a role of somebody else lacks; nil where none was read.
	foreign *condition.Verdict
	// audiences is whether AWS accepts what the pods ask for; nil where that is not told.
	audiences *condition.Verdict
}

// links are the conditions that Ready waits for, in order.
func (v verdicts) links() []condition.Named {
	out := []condition.Named{{Type: TypeAccepted, Verdict: v.accepted}, {Type: TypeRolePresent, Verdict: v.role}, {Type: TypeDelivered, Verdict: v.delivered}}
	for i := range out {
		if out[i].Status == "" {
			out[i].Verdict = condition.Unknown(ReasonNotReached, "not looked at: see the condition before")
		}
	}
	return out
}

// ready sums up.
func (v verdicts) ready() condition.Verdict {
	if v.blocked != nil {
		if v.blocked.Reason == ReasonDeleting {
			return *v.blocked
		}
		return condition.No(v.blocked.Reason, "%s: %s", TypeDeletionBlocked, v.blocked.Message)
	}
	links := v.links()
	reached := slices.DeleteFunc(slices.Clone(links), func(link condition.Named) bool { return link.Reason == ReasonNotReached })
	// What was looked at comes first: the others wait for it.
	if broken, ok := condition.Broken(append(reached, links...)...); ok {
		return broken
	}
	out := condition.Yes(ReasonReady, "%s", v.delivered.Message)
	if v.left != "" {
		out.Message += "; " + v.left
	}
	return out
}

// IsUnderWay says that a reason of Ready is what the same pass goes on with, so that nobody need
// be told of it: Ready becomes True, or a step fails, which is another reason.
func IsUnderWay(reason Reason) bool {
	return reason == ReasonRoleMissing || reason == ReasonRoleDiffers || reason == ReasonDelivering
}

// conditions turns verdicts into the list to store.
func (v verdicts) conditions(w World) []metav1.Condition {
	all := append(v.links(), condition.Named{Type: TypeReady, Verdict: v.ready()})
	if v.static != nil {
		all = append(all, condition.Named{Type: TypeStaticKeysPresent, Verdict: *v.static})
	}
	if v.foreign != nil {
		all = append(all, condition.Named{Type: TypeRoleOutOfSync, Verdict: *v.foreign})
	}
	if v.audiences != nil {
		all = append(all, condition.Named{Type: TypeAudiencesServed, Verdict: *v.audiences})
	}
	if v.blocked != nil {
		all = append(all, condition.Named{Type: TypeDeletionBlocked, Verdict: *v.blocked})
	}
	var stored []metav1.Condition
	var generation int64
	if w.Grant != nil {
		stored, generation = w.Grant.Status.Conditions, w.Grant.Status.ObservedGeneration
	}
	if w.Request != nil {
		generation = w.Request.Generation
	}
	return condition.List(stored, generation, w.Now, all...)
}

// again is when to look next, given when one looks at what is as wanted, and the conditions that
// the verdicts came to.
func (v verdicts) again(quiet time.Duration, conditions []metav1.Condition, now time.Time) time.Duration {
	out := min(quiet, LookAgain)
	if v.left != "" || v.audiences != nil && v.audiences.Reason == ReasonAudiencePending {
		out = min(out, waitAgain)
	}
	if v.blocked != nil {
		return min(out, patience(conditions, TypeDeletionBlocked, now))
	}
	for _, link := range v.links() {
		switch {
		case link.IsTrue() || link.Reason == ReasonNotReached:
		case isPassing(link.Verdict) || link.Reason == ReasonNotAuthenticated: // a new role or provider is accepted seconds later
			out = min(out, retryAgain)
		default:
			out = min(out, patience(conditions, link.Type, now))
		}
	}
	return out
}

// patience is when to look again at what waits for a person: soon where a condition has just come
// to say so, as the person may be at work, and at last every waitAgain.
func patience(conditions []metav1.Condition, kind string, now time.Time) time.Duration {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil {
		return waitFirst
	}
	return min(max(now.Sub(c.LastTransitionTime.Time)/2, waitFirst), waitAgain)
}
