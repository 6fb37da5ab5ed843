package credentials

import (
	"slices"
	"strings"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// decideDeletion takes back all that a grant remembers: what workloads find first, then
// the role, then the request is let go, and the grant goes last.
func decideDeletion(w World) Plan {
	steps, block := targetRemoval(w)
	var events []Event
	if block == nil && w.Grant.Status.Role != nil {
		role := removeRole(w)
		if role.live {
			return Plan{LookLive: true, Again: lookSoon}
		}
		steps, events = append(steps, role.steps...), role.events
		if !role.verdict.IsTrue() {
			block = blocked(role.verdict)
		}
	}
	out := Plan{Grant: *w.Grant.Status.DeepCopy(), Events: events}
	if block == nil {
		v := condition.No(ReasonDeleting, "what was made for the request is being taken back")
		block = &v
		steps = append(steps, ending(w)...)
	}
	v := dying(block)
	out.Grant.Conditions = v.conditions(w)
	out.Steps = steps
	if out.Again = v.again(waitAgain, out.Grant.Conditions, w.Now); isPassing(*block) {
		out.Again = retryAgain
	}
	if len(steps) > 0 && block.Reason == ReasonDeleting {
		out.Again = lookSoon
	}
	if isItsRequest(w) && !w.Platform.Operator.Live {
		out.Project = projectDying(w, *block)
	}
	return out
}

// isItsRequest says that the request of the world is the grant's, and not a later one of
// the same name.
func isItsRequest(w World) bool {
	return w.Request != nil && w.Request.UID == w.Grant.Spec.Request.UID
}

// ending lets the request and the grant go.
func ending(w World) []Step {
	var out []Step
	if isItsRequest(w) {
		theirs := w.Grant.Spec.Adopted && !w.Platform.Operator.Live && slices.Contains(w.Request.Finalizers, cloudv1.Finalizer)
		if theirs = theirs && !w.Request.DeletionTimestamp.IsZero(); theirs || slices.Contains(w.Request.Finalizers, Finalizer) {
			out = append(out, Release{UID: string(w.Request.UID), CCO: theirs})
		}
	}
	return append(out, DeleteGrant{w.Grant.Name})
}

// dying are the verdicts of a grant that goes.
func dying(block *condition.Verdict) verdicts {
	gone := condition.Unknown(ReasonDeleting, "the request is deleted")
	return verdicts{accepted: gone, role: gone, delivered: gone, blocked: block}
}

// blocked turns what stands in the way into what DeletionBlocked says: True, or Unknown
// for what goes by itself.
func blocked(v condition.Verdict) *condition.Verdict {
	if isPassing(v) {
		v = condition.Unknown(v.Reason, "%s", v.Message)
	} else {
		v = condition.Yes(v.Reason, "%s", v.Message)
	}
	return &v
}

// targetRemoval takes back the targets that a grant remembers, and those that its request
// names, should the grant have lost them.
func targetRemoval(w World) (steps []Step, block *condition.Verdict) {
	ref := w.Grant.Spec.Request
	request := w.Request
	if !isItsRequest(w) {
		request = nil
	}
	for _, target := range Observed(request, w.Grant) {
		s, was := stateOf(w, target), remembered(w, target)
		if s.Error != "" && was != nil {
			block = blocked(condition.Unknown(ReasonTargetUnreadable, "%s could not be read: %s", s.Target, condition.Steady(s.Error)))
			continue
		}
		if request != nil && isOperators(w, s) && slices.Contains(request.Finalizers, cloudv1.Finalizer) {
			continue // it goes with the request by the operator's hand
		}
		steps = append(steps, clearTarget(s, RequestName(ref.Namespace, ref.Name), was != nil && was.Created)...)
	}
	return steps, block
}

// removeRole deletes the role that the grant remembers, if it is still the request's.
// The verdict is True if the steps, or nothing, make it gone.
func removeRole(w World) found {
	role := *w.Grant.Status.Role
	gone := condition.Yes(ReasonDeleting, "the role %s goes", role.ARN)
	switch {
	case w.AccountFault != nil:
		return found{verdict: awsTrouble(*w.AccountFault)}
	case role.AccountID != w.Account:
		return found{verdict: condition.No(ReasonAccountChanged, "the role %s is in account %s, and the controller is in account %s now: run it in the former account, or delete the role there and take it out of the grant's status", role.ARN, role.AccountID, w.Account)}
	case w.Role.Fault != nil:
		return found{verdict: awsTrouble(*w.Role.Fault)}
	case !w.Role.Live:
		return found{live: true}
	case !w.Role.Exists:
		return found{verdict: gone}
	case !ownsRole(w):
		return found{verdict: gone, events: []Event{{Warning: true, Reason: string(ReasonRoleNotOurs), Text: "role " + role.Name + " is not the request's by its tag " + OwnerTag + ": it is left as it is"}}}
	}
	owner := Owner(w.Grant.Spec.Request)
	strangers := foreignPolicies(w.Role.Role, role.PolicyName)
	if len(strangers) > 0 && w.Settings.Drift == DriftReport {
		out := found{verdict: condition.No(ReasonForeignPolicies, "the role %s has policies that others gave it: %s; take them off (aws iam detach-role-policy, aws iam delete-role-policy), then it is deleted", role.Name, listed(strangers))}
		if !isClosed(w.Role.Role) {
			out.steps = []Step{SetTrust{role.Name, owner, closedTrust}}
		}
		return out
	}
	out := found{verdict: gone}
	var said []string
	for _, s := range strangers {
		if s.attached != "" {
			out.steps = append(out.steps, s.step(role.Name, owner))
		}
		said = append(said, s.text)
	}
	if len(said) > 0 {
		out.events = []Event{{Warning: true, Reason: string(ReasonForeignPolicies), Text: "role " + role.Name + " is deleted although others gave it policies: " + strings.Join(said, "; ")}}
	}
	out.steps = append(out.steps, DeleteRole{role.Name, owner})
	return out
}
