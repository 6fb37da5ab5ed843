package credentials

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/condition"
)

// found is what one part of a pass came to.
type found struct {
	verdict condition.Verdict
	steps   []Step
	events  []Event
	// live asks for a look at the role by itself.
	live bool
	// waits says that no role is made yet, as no target can be written.
	waits bool
	// going says that the steps make the verdict True, so that what comes after may be
	// done in the same pass.
	going bool
}

// decideRole compares the role with the wanted one. A role that is not the request's is
// never touched, whatever its name.
func decideRole(w World, want RoleWant) found {
	record := w.Grant
	switch {
	case w.AccountFault != nil:
		return found{verdict: awsTrouble(*w.AccountFault)}
	case record != nil && record.Status.Role != nil && record.Status.Role.AccountID != w.Account:
		return found{verdict: condition.No(ReasonAccountChanged, "the role %s was made in account %s, and the controller is in account %s now: run it in the former account, or delete the request", record.Status.Role.ARN, record.Status.Role.AccountID, w.Account)}
	case w.Role.Fault != nil:
		return found{verdict: awsTrouble(*w.Role.Fault)}
	case w.Role.Seen && !w.Role.Live && w.Role.Exists && Fits(w.Role.Digest, want):
		return found{verdict: present(want)}
	case !w.Role.Live:
		return found{live: true, verdict: condition.Unknown(ReasonNotReached, "the role is being looked at")}
	case !w.Role.Exists:
		return creation(w, want)
	case w.Role.Role.Tags[OwnerTag] != want.Owner:
		return found{verdict: condition.No(ReasonRoleNotOurs, "the role %s is there and its tag %s is %q, expected %q: it is left as it is; delete it, or give the request another name", want.Name, OwnerTag, w.Role.Role.Tags[OwnerTag], want.Owner)}
	case w.Role.Role.Path != want.Path:
		return found{verdict: condition.No(ReasonRoleNotOurs, "the role %s has the path %s, expected %s, and paths cannot be changed: delete it, then it is made anew", want.Name, w.Role.Role.Path, want.Path)}
	}
	return repair(w, want)
}

func present(want RoleWant) condition.Verdict {
	return condition.Yes(ReasonRolePresent, "the role %s is as wanted", want.ARN)
}

func creation(w World, want RoleWant) found {
	out := found{
		going:   true,
		verdict: condition.No(ReasonRoleMissing, "there is no role %s: it is being made", want.ARN),
		steps:   []Step{CreateRole{want}, PutPolicy{want.Name, want.Owner, want.PolicyName, want.Policy}},
	}
	if wasPresent(w) {
		out.events = drifted("the role " + want.Name + " was deleted: it is made anew")
	}
	return out
}

// wasPresent says that the last pass found the role complete, so that a difference is
// somebody's doing, or the request's.
func wasPresent(w World) bool {
	if w.Grant == nil || w.Request == nil || w.Grant.Status.ObservedGeneration != w.Request.Generation {
		return false
	}
	was, ok := condition.Read(w.Grant.Status.Conditions, TypeRolePresent)
	return ok && was.IsTrue()
}

func drifted(text string) []Event {
	return []Event{{Warning: true, Reason: "RoleDrift", Text: text}}
}

// repair puts a role of ours in order.
func repair(w World, want RoleWant) found {
	var out found
	var said []string
	add := func(text string, step Step) {
		out.steps, said = append(out.steps, step), append(said, text)
	}
	have := w.Role.Role
	if canonical(have.Trust) != canonical(want.Trust) {
		add(differ("trust policy", have.Trust, want.Trust), SetTrust{want.Name, want.Owner, want.Trust})
	}
	if have.Boundary != want.Boundary {
		add(fmt.Sprintf("boundary was %s, wanted %s", orNone(have.Boundary), orNone(want.Boundary)), SetBoundary{want.Name, want.Owner, want.Boundary})
	}
	wantTags := want.Tags.Map()
	if names := otherTags(have.Tags, wantTags); len(names) > 0 {
		add("tags differed: "+strings.Join(names, ", "), SetTags{want.Name, want.Owner, want.Tags})
	}
	if have.MaxSession != want.MaxSession {
		add(fmt.Sprintf("longest session was %s, wanted %s", have.MaxSession, want.MaxSession), SetSession{want.Name, want.Owner, want.MaxSession})
	}
	if policy, there := have.Policies[want.PolicyName]; !there {
		add("inline policy "+want.PolicyName+" was removed", PutPolicy{want.Name, want.Owner, want.PolicyName, want.Policy})
	} else if canonical(policy) != canonical(want.Policy) {
		add(differ("inline policy "+want.PolicyName, policy, want.Policy), PutPolicy{want.Name, want.Owner, want.PolicyName, want.Policy})
	}
	strangers := foreignPolicies(have, want.PolicyName)
	if len(strangers) > 0 && w.Settings.Drift != DriftReport {
		for _, s := range strangers {
			add(s.text, s.step(want.Name, want.Owner))
		}
	}
	switch {
	case len(out.steps) > 0:
		out.going = true
		out.verdict = condition.No(ReasonRoleDiffers, "the role %s is being put in order: %s", want.Name, strings.Join(said, "; "))
		if wasPresent(w) {
			out.events = drifted("role " + want.Name + ": " + strings.Join(said, "; "))
		}
	case len(strangers) > 0:
		out.verdict = present(want)
		out.verdict.Reason = ReasonForeignPolicies
		out.verdict.Message += ", but for policies that others gave it: " + listed(strangers)
		out.events = []Event{{Warning: true, Reason: string(ReasonForeignPolicies), Text: "role " + want.Name + " has policies that others gave it: " + listed(strangers)}}
	default:
		out.verdict = present(want)
	}
	return out
}

// stranger is a policy that somebody else gave to a role of ours.
type stranger struct{ text, inline, attached string }

func (s stranger) step(role, owner string) Step {
	if s.attached != "" {
		return Detach{role, owner, s.attached}
	}
	return RemovePolicy{role, owner, s.inline}
}

// foreignPolicies are the policies of a role but for the one of ours, in order.
func foreignPolicies(role Role, ours string) []stranger {
	var out []stranger
	for _, name := range slices.Sorted(maps.Keys(role.Policies)) {
		if name != ours {
			out = append(out, stranger{text: "inline policy " + name + " was added", inline: name})
		}
	}
	for _, arn := range slices.Sorted(slices.Values(role.Attached)) {
		out = append(out, stranger{text: "policy " + arn + " was attached", attached: arn})
	}
	return out
}

func listed(strangers []stranger) string {
	var out []string
	for _, s := range strangers {
		out = append(out, s.text)
	}
	return strings.Join(out, "; ")
}

// otherTags are the keys of wanted tags that are missing or have another value.
func otherTags(have, want map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, there := have[key]; !there || value != want[key] {
			out = append(out, key)
		}
	}
	return out
}

// longestDocument bounds what of a document is said: texts of events have 1,024
// characters (Kubernetes).
const longestDocument = 300

func differ(what, have, want string) string {
	return fmt.Sprintf("%s differed: was %s, wanted %s", what, shortened(canonical(have)), shortened(canonical(want)))
}

func shortened(text string) string {
	if len(text) <= longestDocument {
		return text
	}
	return strings.ToValidUTF8(text[:longestDocument], "") + "…"
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
