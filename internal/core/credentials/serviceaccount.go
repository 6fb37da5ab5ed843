package credentials

import (
	"fmt"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

// stateOf is what was seen of a target.
func stateOf(w World, target Target) TargetState {
	for _, s := range w.Targets {
		if s.Target == target {
			return s
		}
	}
	return TargetState{Target: target, Error: "it was not looked at"}
}

// unreachable says why nothing can be decided about a target; nil if something can.
func unreachable(s TargetState) *condition.Verdict {
	var out condition.Verdict
	switch {
	case s.Error != "":
		out = condition.Unknown(ReasonTargetUnreadable, "%s could not be read: %s", s.Target, condition.Steady(s.Error))
	case s.NamespaceMissing:
		out = condition.No(ReasonTargetNamespaceMissing, "there is no namespace %s for %s: create it, then it goes on by itself", s.Namespace, s.Target)
	case s.Exists && s.Deleting:
		out = condition.Unknown(ReasonTargetDeleting, "%s is being deleted: it is made anew when it is gone", s.Target)
	default:
		return nil
	}
	return &out
}

// isOf says that a target names a request as its own.
func (s TargetState) isOf(request string) bool {
	return s.Exists && s.Annotations[RequestAnnotation] == request
}

// decideAccount puts the role on the ServiceAccount. One that somebody else gave a role,
// or that is another request's, stays as it is.
func decideAccount(w World, target Target, arn string) found {
	s, request := stateOf(w, target), RequestName(w.Request.Namespace, w.Request.Name)
	if why := unreachable(s); why != nil {
		return found{verdict: *why}
	}
	have, named := s.Annotations[RoleAnnotation], s.Annotations[RequestAnnotation]
	write := WriteServiceAccount{Target: target, RoleARN: arn, Request: request, Create: !s.Exists}
	switch {
	case !s.Exists || have == "" && named == "" || have == arn && named == "":
		return found{verdict: delivering(target), steps: []Step{write}, events: lost(w, s, arn), going: true}
	case named == request && have == arn:
		return found{verdict: condition.Yes(ReasonDelivered, "%s has the role %s", target, arn)}
	case named == request:
		return found{verdict: delivering(target), steps: []Step{write}, events: lost(w, s, arn), going: true}
	case named != "":
		return found{verdict: condition.No(ReasonTargetOfAnother, "%s is that of CredentialsRequest %s, expected one request for each ServiceAccount: delete one of the two, or name another ServiceAccount", target, named)}
	}
	return found{verdict: condition.No(ReasonServiceAccountHasRole, "%s has the role %s, which somebody else gave it: take the annotation %s off, or name another ServiceAccount", target, have, RoleAnnotation)}
}

func delivering(target Target) condition.Verdict {
	return condition.No(ReasonDelivering, "%s is being written", target)
}

// lost tells that somebody took off what was delivered before.
func lost(w World, s TargetState, arn string) []Event {
	if !wasDelivered(w, s.Target) {
		return nil
	}
	text := fmt.Sprintf("%s was deleted: it is made anew", s.Target)
	if s.Exists {
		text = fmt.Sprintf("%s: annotation %s was %s, wanted %s: it is put back", s.Target, RoleAnnotation, orNone(s.Annotations[RoleAnnotation]), arn)
	}
	return []Event{{Warning: true, Reason: "TargetDrift", Text: text}}
}

// wasDelivered says that the last pass found a target as wanted.
func wasDelivered(w World, target Target) bool {
	if w.Grant == nil || w.Grant.Status.ObservedGeneration != w.Request.Generation {
		return false
	}
	was, ok := condition.Read(w.Grant.Status.Conditions, TypeDelivered)
	return ok && was.IsTrue() && remembered(w, target) != nil
}

// clearAccount takes our annotations off a ServiceAccount; nothing for one that is not
// the request's.
func clearAccount(s TargetState, request string, created bool) []Step {
	if !s.isOf(request) || s.Deleting {
		return nil
	}
	whole := created && s.Labels[ManagedLabel] == "true" && !s.Extended
	return []Step{ClearServiceAccount{Target: s.Target, Request: request, Delete: whole}}
}
