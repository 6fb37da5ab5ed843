package hubaccess

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// trust is the wanted trust policy of the record's role. The ARNs were read before the
// record was made, and the API server checks their form.
func trust(w World) string {
	access := w.Record.Spec.Access
	spoke, err := hub.ParseARN(access.ManagedClusterARN)
	if err != nil {
		return ""
	}
	return hub.Trust(w.Setting.Hub, spoke, access.Suffix)
}

// mend compares what a live look has found with what is wanted.
func mend(w World) Plan {
	access, role, entry := w.Record.Spec.Access, w.AWS.Role, w.AWS.Entry
	ours, entryOurs := isOurs(w.Record, role.Tags), isOurs(w.Record, entry.Tags)
	switch {
	case trust(w) == "":
		return say(w, condition.No(ReasonAnnotationsMalformed, "spec.access.managedClusterARN is not the ARN of an EKS cluster: delete this HubAccess"), hold(w), waitAgain)
	case role.Exists && !ours && !entryOurs && hub.SamePolicy(role.Trust, trust(w)) && isAsWanted(w, entry) && mayFit(entry, role):
		return say(w, condition.Yes(ReasonMadeByHand, "the role %s and its access entry are as wanted; they lack Tabard's tags, so Tabard neither changes nor deletes them", access.RoleARN), hold(w), LookAgain)
	case role.Exists && !ours:
		return say(w, condition.No(ReasonRoleNotOurs, "the role %s is there, lacks Tabard's tags of this cluster, and %s; it is left as it is: delete it and its access entry, or give both the wanted form", access.RoleARN, lacking(w)), hold(w), waitAgain)
	case entry.Exists && !entryOurs:
		return say(w, condition.No(ReasonEntryNotOurs, "the access entry of %s is there with username %q and lacks Tabard's tags of this cluster; it is left as it is: delete it, then it is made anew", access.RoleARN, entry.Username), hold(w), waitAgain)
	}
	steps := roleSteps(w)
	verdict := condition.Yes(ReasonAccessGiven, "the role %s may be assumed by %s, and is %s on the hub", access.RoleARN, access.ManagedClusterARN, access.Username)
	if len(steps) == 0 {
		return say(w, verdict, hold(w), LookAgain)
	}
	out := say(w, verdict, slices.Concat(hold(w), steps), LookAgain)
	if role.Exists {
		out.Events = []Event{{ReasonAccessDiffers, "put in order: " + differing(w)}}
	}
	return out
}

// lacking says what of a role of others is not as wanted.
func lacking(w World) string {
	if !hub.SamePolicy(w.AWS.Role.Trust, trust(w)) {
		return "its trust policy is not the wanted one"
	}
	if !w.AWS.Entry.Exists {
		return "it has no access entry"
	}
	return "its access entry is not the wanted one, or was made for a former role of the name"
}

// differing says what of Tabard's own is not as wanted.
func differing(w World) string {
	var out []string
	role, entry := w.AWS.Role, w.AWS.Entry
	if !hub.SamePolicy(role.Trust, trust(w)) {
		out = append(out, "the trust policy of the role")
	}
	switch {
	case !entry.Exists:
		out = append(out, "the access entry was missing")
	case entry.Tags[hub.RoleTag] != role.ID:
		out = append(out, "the access entry was that of a former role of the same name")
	case !isAsWanted(w, entry):
		out = append(out, "the access entry")
	}
	return strings.Join(out, ", ")
}

// roleSteps put role and entry in order, none of which is another's. An entry is bound to
// the unique ID of the role for which it was made: for another one it is made anew.
func roleSteps(w World) []Step {
	access, role, entry := w.Record.Spec.Access, w.AWS.Role, w.AWS.Entry
	name, by := hub.RoleName(access.Suffix), owner(w.Record)
	drop := DeleteEntry{access.RoleARN, by}
	create := CreateEntry{access.RoleARN, role.ID, access.Username, hub.Group(access.Username), tagsOf(w)}
	var out []Step
	stale := entry.Exists && (!role.Exists || entry.Tags[hub.RoleTag] != role.ID || entry.Type != Standard)
	if stale {
		out = append(out, drop)
	}
	switch {
	case !role.Exists:
		out = append(out, CreateRole{name, by, trust(w), tagsOf(w)})
	case !hub.SamePolicy(role.Trust, trust(w)):
		out = append(out, SetTrust{name, by, trust(w)})
	}
	switch {
	case stale || !entry.Exists:
		out = append(out, create)
	case !isAsWanted(w, entry):
		out = append(out, UpdateEntry{create.RoleARN, by, create.Username, create.Group})
	}
	return out
}
