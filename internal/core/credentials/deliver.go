package credentials

import (
	"strings"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// delivery is what the targets came to.
type delivery struct {
	found
	static *condition.Verdict
	// reaches says that workloads find the credentials by one target at least, or are about to.
	reaches bool
}

// deliver writes the targets: the verdict is that of the first that is not as wanted.
func deliver(w World, want wanted) delivery {
	var out delivery
	for i, target := range want.targets {
		var one found
		if target.Kind == KindServiceAccount {
			one = decideAccount(w, target, want.arn)
		} else {
			one = decideSecret(w, target, want.secret)
			if s := stateOf(w, target); one.verdict.IsTrue() || one.going {
				out.static = staticVerdict(s)
			}
		}
		if i == 0 || out.verdict.IsTrue() || out.going && !one.verdict.IsTrue() && !one.going {
			out.verdict, out.going = one.verdict, one.going
		}
		out.reaches = out.reaches || one.verdict.IsTrue() || one.going
		out.steps, out.events = append(out.steps, one.steps...), append(out.events, one.events...)
	}
	return out
}

// remembered is what the grant has of a target; nil for nothing.
func remembered(w World, target Target) *v1alpha1.GrantedTarget {
	if w.Grant == nil {
		return nil
	}
	for i, t := range w.Grant.Status.Targets {
		if target == (Target{t.Kind, t.Namespace, t.Name}) {
			return &w.Grant.Status.Targets[i]
		}
	}
	return nil
}

// record is what the grant is to remember: former targets until nothing of ours is at
// them, the wanted ones that may be written, the role that may be made.
func record(w World, want wanted, v verdicts) v1alpha1.CredentialsGrantStatus {
	var out v1alpha1.CredentialsGrantStatus
	if w.Grant != nil {
		out = *w.Grant.Status.DeepCopy()
	}
	out.Targets = nil
	request := RequestName(w.Request.Namespace, w.Request.Name)
	for _, target := range formerTargets(w, want.targets) {
		if isHeld(w, target) {
			out.Targets = append(out.Targets, *remembered(w, target))
		}
	}
	for _, target := range want.targets {
		entry := v1alpha1.GrantedTarget{Kind: target.Kind, Namespace: target.Namespace, Name: target.Name}
		was, s := remembered(w, target), stateOf(w, target)
		entry.Created = was != nil && was.Created || s.Error == "" && !s.Exists
		if was != nil || s.Error == "" && !s.NamespaceMissing && isFree(w, s, request, want.arn) {
			out.Targets = append(out.Targets, entry)
		}
	}
	switch {
	case want.mint && w.AccountFault == nil && v.role.Reason != ReasonAccountChanged && v.role.Reason != ReasonNotReached:
		role := roleRecord(w, want.role.Path)
		role.PermissionsBoundary = want.role.Boundary
		out.Role, out.Issuers = &role, want.trust.record()
	case !want.mint && (out.Role == nil || w.Role.Live && !ownsRole(w)):
		out.Role, out.Issuers = nil, nil
	case !want.mint && w.Role.Live && isClosed(w.Role.Role):
		out.Issuers = nil
	}
	return out
}

// isFree says that a target is the request's to write.
func isFree(w World, s TargetState, request, arn string) bool {
	if !s.Exists {
		return true
	}
	if s.Kind == KindSecret {
		return conflict(w, s, request) == nil
	}
	named := s.Annotations[RequestAnnotation]
	have := s.Annotations[RoleAnnotation]
	return named == request || named == "" && (have == "" || have == arn)
}

// ownsRole says that the role that was looked at is there and that of the grant.
func ownsRole(w World) bool {
	return w.Role.Exists && w.Role.Role.Tags[OwnerTag] == Owner(w.Grant.Spec.Request)
}

// clearFormer takes back what the request had before and no longer wants: targets, and
// the role of one that now names its own. ready says that all that is wanted was seen to
// work; before that nothing is taken back.
func clearFormer(w World, want wanted, ready bool) (out found, left string) {
	if w.Grant == nil {
		return out, ""
	}
	former := formerTargets(w, want.targets)
	role := !want.mint && w.Grant.Status.Role != nil
	switch {
	case len(former) == 0 && !role:
		return out, ""
	case !ready:
		return out, "what the request had before is taken back once the new one works"
	}
	const not = "what the request had before is not yet taken back: "
	var stuck, theirs []string
	for _, target := range former {
		s := stateOf(w, target)
		if s.Error != "" {
			stuck = append(stuck, s.Target.String()+" could not be read: "+condition.Steady(s.Error))
		}
		if isOperators(w, s) {
			theirs = append(theirs, s.Target.String()+" was written by the Cloud Credential Operator too, which is live: it is left to it")
			continue
		}
		out.steps = append(out.steps, clearTarget(s, RequestName(w.Request.Namespace, w.Request.Name), remembered(w, target).Created)...)
	}
	if len(stuck) > 0 {
		return out, not + strings.Join(stuck, "; ")
	}
	if role {
		removal := removeRole(w)
		out.live, out.events = removal.live, removal.events
		out.steps = append(out.steps, removal.steps...)
		if !removal.verdict.IsTrue() && !removal.live {
			return out, not + removal.verdict.Message
		}
	}
	if len(theirs) > 0 {
		return out, not + strings.Join(theirs, "; ")
	}
	return out, "what the request had before is being taken back"
}

func clearTarget(s TargetState, request string, created bool) []Step {
	if s.Error != "" || s.NamespaceMissing {
		return nil
	}
	if s.Kind == KindServiceAccount {
		return clearAccount(s, request, created)
	}
	return clearSecret(s, request, created)
}
