package beside

import (
	"fmt"
	"slices"
	"strings"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
)

// rule is a pure check of a recording: it returns what breaks it.
type rule struct {
	name  string
	check func(Recording) []string
}

// rules are those of life beside a Cloud Credential Operator. Its user is the only one
// besides who writes requests, so a version tells by its managers who wrote what.
var rules = []rule{
	{"no field is written by both", noFieldOfBoth},
	{"neither spec nor status of a request is Tabard's", noSpecNorStatus},
	{"no Secret gets the operator's marks from Tabard", noForeignMarks},
	{"a request that is another's is left alone", handsOff},
	{"what comes while the mode is not Manual is left alone", onlyWhereManual},
	{"Tabard neither writes nor takes away static keys", noStaticKeys},
	{"Tabard asks AWS for roles, never for users and keys", noUsers},
	{"the operator lives", lives},
	{"the operator's webhook is left alone", noWebhook},
	{"writes come to an end", bounded},
	{"all of a deleted request is gone, and roles of others are as they were", allGone},
}

// broken is what breaks the rules, each with its name.
func broken(r Recording) (out []string) {
	slices.SortStableFunc(r.Versions, func(a, b Version) int { return int(a.Revision - b.Revision) })
	for _, each := range rules {
		for _, what := range each.check(r) {
			out = append(out, each.name+": "+what)
		}
	}
	return out
}

// noFieldOfBoth goes by every version: a write by one takes a field from the other, so no
// version by itself has a field of both. One field passes, once: when a person has the
// operator serve a request (by a mode that is not Manual, or by a role in the request),
// it writes over what Tabard put into the Secret, and Tabard never writes it again.
func noFieldOfBoth(r Recording) (out []string) {
	owner, told, serves := map[string]string{}, map[string]bool{}, serving{role: map[string]bool{}}
	for _, v := range r.Versions {
		serves.follow(v)
		for _, by := range []string{tabard, cco} {
			for _, field := range v.Fields[by] {
				at := v.ID + " " + field
				before := owner[at]
				if owner[at] = by; before == "" || before == by || told[at] {
					continue
				}
				if by == cco && field == "f:data f:credentials" && serves.secret(v) {
					continue
				}
				told[at] = true
				out = append(out, fmt.Sprintf("%s: %q was written by %s, then by %s", v, field, before, by))
			}
		}
	}
	return out
}

// serving says which requests people have the operator serve.
type serving struct {
	// other says that the mode is not Manual, or was when a Secret's key was minted.
	other bool
	// role has the Secrets of requests that name a role, or did.
	role map[string]bool
}

func (s *serving) follow(v Version) {
	switch {
	case v.Kind == kindMode:
		s.other = v.Mode != "Manual"
	case v.Kind == kindRequest && v.Role:
		s.role[v.Secret] = true
	}
}

func (s *serving) secret(v Version) bool {
	_, minted := v.Annotations[cloudv1.MintedPolicyAnnotation]
	return s.other || minted || s.role[v.Name]
}

func noSpecNorStatus(r Recording) (out []string) {
	for _, v := range r.Versions {
		for _, field := range v.Fields[tabard] {
			if v.Kind == kindRequest && (strings.HasPrefix(field, "f:spec") || strings.HasPrefix(field, "f:status")) {
				out = append(out, fmt.Sprintf("%s has Tabard's %q", v, field))
			}
		}
	}
	return out
}

func noForeignMarks(r Recording) (out []string) {
	for _, v := range r.Versions {
		for _, field := range v.Fields[tabard] {
			if v.Kind == kindSecret && (strings.HasSuffix(field, "f:"+cloudv1.RequestKey) || strings.HasSuffix(field, "f:"+cloudv1.MintedPolicyAnnotation)) {
				out = append(out, fmt.Sprintf("%s has Tabard's %q", v, field))
			}
		}
	}
	return out
}

// handsOff: as long as a request has never named a ServiceAccount it is the operator's,
// also while that is drained, and whatever an administrator says in a grant.
func handsOff(r Recording) (out []string) {
	named := map[string]bool{}
	for _, v := range r.Versions {
		switch v.Kind {
		case kindRequest:
			named[v.ID] = named[v.ID] || v.isAnnotated()
			if len(v.Fields[tabard]) > 0 && !named[v.ID] {
				out = append(out, fmt.Sprintf("%s has Tabard's %q", v, v.Fields[tabard]))
			}
		case kindGrant:
			if isMade(v) && !named[v.Request] {
				out = append(out, fmt.Sprintf("%s was made by Tabard", v))
			}
		}
	}
	return out
}

// isMade says that Tabard made a grant: one that an administrator made gets a status.
func isMade(grant Version) bool {
	return slices.ContainsFunc(grant.Fields[tabard], func(f string) bool { return strings.HasPrefix(f, "f:spec") })
}

// onlyWhereManual: a request is young if it came after Tabard had seen a mode that is not
// Manual, and until the mode changes.
func onlyWhereManual(r Recording) (out []string) {
	seen, young, other := map[string]bool{}, map[string]bool{}, false
	for _, v := range r.Versions {
		if v.Kind == kindMode {
			other = v.Known && v.Mode != "Manual"
			clear(young)
			continue
		}
		id := v.ID
		if v.Kind == kindGrant {
			id = v.Request
		}
		if v.Kind == kindRequest && !seen[id] {
			seen[id] = true
			young[id] = other
		}
		if young[id] && len(v.Fields[tabard]) > 0 && (v.Kind != kindGrant || isMade(v)) {
			out = append(out, fmt.Sprintf("%s has Tabard's %q", v, v.Fields[tabard]))
		}
	}
	return out
}

var staticKeys = []string{"aws_access_key_id", "aws_secret_access_key"}

func noStaticKeys(r Recording) (out []string) {
	before := map[string]Version{}
	for _, v := range r.Versions {
		if v.Kind != kindSecret {
			continue
		}
		for _, key := range staticKeys {
			if slices.Contains(v.Fields[tabard], "f:data f:"+key) {
				out = append(out, fmt.Sprintf("%s has Tabard's %s", v, key))
			}
			if slices.Contains(before[v.ID].Data, key) && !slices.Contains(v.Data, key) {
				out = append(out, fmt.Sprintf("%s has lost %s, which no one but its owner may order", v, key))
			}
		}
		before[v.ID] = v
	}
	return out
}

func noUsers(r Recording) (out []string) {
	for _, call := range r.Calls {
		for _, word := range []string{"User", "AccessKey", "LoginProfile", "Group"} {
			if strings.Contains(call.Operation, word) {
				out = append(out, fmt.Sprintf("%s called %s", call.Caller, call.Operation))
			}
		}
	}
	return out
}

func lives(r Recording) []string {
	if r.Died {
		return []string{"it ended itself"}
	}
	return nil
}

func noWebhook(r Recording) (out []string) {
	for _, v := range r.Versions {
		if v.Kind == kindWebhook && len(v.Fields[tabard]) > 0 {
			out = append(out, fmt.Sprintf("%s has Tabard's %q", v, v.Fields[tabard]))
		}
	}
	return out
}

// calm is how many writes Tabard may make for a request without anybody but the two
// programs having changed something: a life from its first step to its last takes fewer.
const calm = 25

func bounded(r Recording) (out []string) {
	count := map[string]int{}
	for _, w := range r.Writes {
		switch {
		case w.By == cco:
		case w.By != tabard && w.Of == "":
			clear(count)
		case w.By != tabard:
			delete(count, w.Of)
		default:
			if count[w.Of]++; count[w.Of] == calm+1 {
				out = append(out, fmt.Sprintf("%s: %s of %s is write %d since somebody changed something", w.Of, w.Verb, w.What, calm+1))
			}
		}
	}
	return out
}

func allGone(r Recording) (out []string) {
	for _, left := range r.Left {
		out = append(out, left+" is left")
	}
	for _, before := range r.Before {
		if !slices.Contains(r.After, before) {
			out = append(out, fmt.Sprintf("the role %s of others was changed", before.Name))
		}
	}
	for _, after := range r.After {
		if !slices.ContainsFunc(r.Before, func(b Role) bool { return b.Name == after.Name }) {
			out = append(out, fmt.Sprintf("the role %s is left", after.Name))
		}
	}
	return out
}
