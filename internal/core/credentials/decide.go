package credentials

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

const (
	// LookAgain is when to look next at a request that is fulfilled: what others do in
	// AWS announces itself by nothing.
	LookAgain = 30 * time.Minute
	// waitFirst is when to look at what has come to wait for a person, or for an object of
	// others, and waitAgain when to look at what has waited for long: see patience.
	waitFirst, waitAgain = 15 * time.Second, 5 * time.Minute
	// retryAgain is when to look at what goes by itself.
	retryAgain = 30 * time.Second
	// lookSoon is when to look at what a plan has changed.
	lookSoon = 2 * time.Second
)

// Decide compares the world with what its request wants. It is the whole decision: for
// a request that lives, one that dies, and one that is gone.
func Decide(w World) Plan {
	switch {
	case w.Grant != nil && IsOver(w):
		return decideDeletion(w)
	case w.Request == nil:
		return Plan{}
	case !w.Request.DeletionTimestamp.IsZero():
		return letGo(w)
	}
	acting := Act(AskedOf(w))
	if acting.Actor != ActorTabard {
		return standBack(w, acting)
	}
	return fulfil(w, acting)
}

// IsOver says that a request gets nothing any more: its life is over, or the grant is
// another request's, or a person deletes the grant. All that the grant remembers is taken
// back.
func IsOver(w World) bool {
	return w.Request == nil || !w.Request.DeletionTimestamp.IsZero() ||
		w.Grant != nil && (w.Request.UID != w.Grant.Spec.Request.UID || !w.Grant.DeletionTimestamp.IsZero())
}

// letGo is for a request that dies and of which nothing is remembered: nothing was made.
func letGo(w World) Plan {
	out := Plan{Acting: Act(AskedOf(w))}
	if slices.Contains(w.Request.Finalizers, Finalizer) {
		out.Steps = []Step{Release{UID: string(w.Request.UID)}}
	}
	return out
}

// standBack is for a request that Tabard does not fulfil. On one that it never had it
// writes nothing. What it made for one before stays, as long as the request lives:
// workloads use it.
func standBack(w World, acting Acting) Plan {
	out := Plan{Acting: acting, Again: untilOperator(w, LookAgain)}
	switch acting.Reason {
	case ReasonCCOWouldMint, ReasonCCOPassthrough, ReasonCCOModeUnknown, ReasonPlatformUnknown, ReasonInvalidTarget:
		out.Events = []Event{{Warning: true, Reason: string(acting.Reason), Text: acting.Text}}
	case ReasonIgnored:
		if !w.Platform.Operator.Live {
			out.Project = ignored(w, acting.Text)
		}
	}
	if w.Grant == nil {
		if slices.Contains(w.Request.Finalizers, Finalizer) {
			out.Steps = []Step{Release{UID: string(w.Request.UID)}}
		}
		return out
	}
	out.Grant = *w.Grant.Status.DeepCopy()
	unknown := acting.Reason == ReasonPlatformUnknown || acting.Reason == ReasonCCOModeUnknown
	if !Holds(w.Grant) && !unknown {
		out.Steps, out.Again = ending(w), lookSoon
		return out
	}
	lost := withdraw(w)
	if lost.live {
		return Plan{Acting: acting, LookLive: true, Again: lookSoon}
	}
	v := condition.No(acting.Reason, "%s; %s", acting.Text, stays(lost))
	out.Steps, out.Events = append(out.Steps, lost.steps...), append(out.Events, lost.events...)
	if unknown {
		v.Status, out.Again = metav1.ConditionUnknown, waitAgain
	}
	out.Grant.ObservedGeneration, out.Grant.Conditions = w.Request.Generation, verdicts{accepted: v}.conditions(w)
	return out
}

// stays says what becomes of what was made before.
func stays(lost found) string {
	const text = "what was made before stays until the request is deleted"
	if !lost.verdict.IsTrue() {
		return text
	}
	return text + ", but " + lost.verdict.Message
}

// Holds says that a grant remembers something, or that an administrator decided something by
// it, so that its request keeps what it has.
func Holds(g *v1alpha1.CredentialsGrant) bool {
	return g.Status.Role != nil || len(g.Status.Targets) > 0 || g.Spec.Adopted || g.Spec.Bound != nil
}

// untilOperator shortens a time to that at which a Cloud Credential Operator that only
// its Lease shows is no longer live.
func untilOperator(w World, again time.Duration) time.Duration {
	until := w.Platform.Operator.Until
	if until.IsZero() || !until.After(w.Now) {
		return again
	}
	return soonest(again, until.Sub(w.Now)+time.Second)
}

// fulfil is for a request that is Tabard's: accepted, then a role, then the targets, then
// what of former targets and roles is left, each only after the one before. Targets of which none can
// be written keep a role from being made at all.
func fulfil(w World, acting Acting) Plan {
	want, accepted := accept(w, acting)
	v := verdicts{accepted: accepted, audiences: audiencesServed(w)}
	if !accepted.IsTrue() {
		return refused(w, acting, v)
	}
	delivery := deliver(w, want)
	role := roleFor(w, want, delivery)
	if role.live {
		return Plan{Acting: acting, LookLive: true, Again: lookSoon}
	}
	v.role, v.foreign = role.verdict, outOfSync(w)
	if role.waits {
		v.delivered = delivery.verdict
	}
	out := Plan{Acting: acting, Grant: record(w, want, v), Events: role.events, Again: cmp.Or(want.trust.next, LookAgain)}
	steps := role.steps
	if role.verdict.IsTrue() || role.going {
		v.delivered, v.static = delivery.verdict, delivery.static
		steps, out.Events = append(steps, delivery.steps...), append(out.Events, delivery.events...)
		if delivery.verdict.IsTrue() || delivery.going {
			former, left := clearFormer(w, want, role.verdict.IsTrue() && delivery.verdict.IsTrue())
			if former.live {
				return Plan{Acting: acting, LookLive: true, Again: lookSoon}
			}
			steps, out.Events = append(steps, former.steps...), append(out.Events, former.events...)
			v.left = left
		}
	}
	return compose(w, out, v, steps)
}

// roleFor is the role of a request that is accepted. None is made as long as none of its targets can
// be written: nobody could use it, and it would count towards the account's quota.
func roleFor(w World, want wanted, to delivery) found {
	switch {
	case !want.mint:
		return found{verdict: condition.Yes(ReasonRoleGiven, "%s", given(w, want))}
	case grantedRole(w) == nil && !to.reaches:
		return found{waits: true, verdict: condition.Unknown(ReasonNotReached, "no role is made before workloads can find it: see %s", TypeDelivered)}
	}
	return decideRole(w, want.role)
}

func given(w World, want wanted) string {
	if want.arn == "" {
		return "the identity is one that somebody else made"
	}
	if _, bound := GivenRole(w); bound {
		return "the request is bound to " + want.arn
	}
	return "the request names " + want.arn
}

// refused is for a request that is Tabard's and gets nothing, or nothing new.
func refused(w World, acting Acting, v verdicts) Plan {
	lost := withdraw(w)
	if lost.live {
		return Plan{Acting: acting, LookLive: true, Again: lookSoon}
	}
	out := Plan{Acting: acting, Again: waitAgain, Events: lost.events}
	if w.Grant != nil {
		out.Grant = *w.Grant.Status.DeepCopy()
		if Holds(w.Grant) {
			v.accepted.Message += "; " + stays(lost)
		}
	}
	return compose(w, out, v, lost.steps)
}

// compose puts before the outside steps what makes them safe, and says what was found.
func compose(w World, out Plan, v verdicts, outside []Step) Plan {
	out.Grant.ObservedGeneration = w.Request.Generation
	out.Grant.Conditions = v.conditions(w)
	if len(outside) > 0 && !slices.Contains(w.Request.Finalizers, Finalizer) {
		out.Steps = append(out.Steps, Hold{})
	}
	if w.Grant == nil || !slices.Contains(w.Grant.Finalizers, Finalizer) {
		out.Steps = append(out.Steps, MakeGrant{GrantName(w.Request.Namespace, w.Request.Name), requestRef(w)})
	}
	if len(outside) > 0 && isNews(w.Grant, out.Grant) {
		out.Steps = append(out.Steps, Record{})
	}
	out.Steps = append(out.Steps, outside...)
	out.Again = untilOperator(w, v.again(out.Again, out.Grant.Conditions, w.Now))
	if len(out.Steps) > 0 {
		out.Again = lookSoon
	}
	if !w.Platform.Operator.Live {
		out.Project = project(w, out.Grant, v)
	}
	return out
}

// isNews says that a grant remembers something that is not stored.
func isNews(stored *v1alpha1.CredentialsGrant, status v1alpha1.CredentialsGrantStatus) bool {
	var was v1alpha1.CredentialsGrantStatus
	if stored != nil {
		was = *stored.Status.DeepCopy()
	}
	status.Conditions, was.Conditions = nil, nil
	status.ObservedGeneration, was.ObservedGeneration = 0, 0
	return !equality.Semantic.DeepEqual(was, status)
}
