package permission

import (
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/iampolicy"
)

// sensitiveActions are actions by which a role can get at more than it was given, or at what
// others keep secret.
var sensitiveActions = []string{
	"iam:PassRole", "iam:Create*", "iam:Put*", "iam:Attach*", "sts:AssumeRole*",
	"kms:Decrypt", "kms:CreateGrant", "organizations:*",
}

// sensitivePolicies are policies that allow one of the sensitiveActions each, so that what a
// pattern has in common with them can be asked.
var sensitivePolicies = sync.OnceValue(func() []*iampolicy.Policy {
	var out []*iampolicy.Policy
	for _, action := range sensitiveActions {
		policy, err := iampolicy.Parse([]byte(Statement{"Allow", []string{action}, "*", ""}.document()))
		if err != nil {
			panic("permission: a policy of " + action + " does not parse: " + err.Error())
		}
		out = append(out, policy)
	}
	return out
})

// Values of other clouds that are sensitive, without case.
var (
	sensitiveAzure = []string{"owner", "contributor", "user access administrator", "*"}
	sensitiveGCP   = []string{"roles/owner", "roles/editor", "iam.serviceaccounts.actas", "iam.serviceaccounts.getaccesstoken"}
)

// Marks say why an atom is sensitive; nil where it is not. What is denied is not.
func (a Atom) Marks() []string {
	value := strings.ToLower(a.Value)
	switch {
	case a.Cloud == AWS && a.Effect == "Allow":
		return a.marksAWS()
	case a.Cloud == Azure && slices.Contains(sensitiveAzure, value):
		return []string{a.Value}
	case a.Cloud == GCP && (slices.Contains(sensitiveGCP, value) || isSetPolicy(value)):
		return []string{a.Value}
	}
	return nil
}

// isSetPolicy is resourcemanager.*.setIamPolicy.
func isSetPolicy(value string) bool {
	return strings.HasPrefix(value, "resourcemanager.") && strings.HasSuffix(value, ".setiampolicy")
}

func (a Atom) marksAWS() []string {
	var marks []string
	service, name := cutAction(a.Action)
	switch {
	case isAnything(service) && isAnything(name):
		return []string{"every action"}
	case isAnything(name):
		marks = append(marks, "every action of "+service)
	}
	for i, policy := range sensitivePolicies() {
		other, _ := cutAction(sensitiveActions[i])
		if !strings.ContainsAny(service, "*?") && !strings.EqualFold(service, other) {
			continue // which saves asking
		}
		if may, _ := iampolicy.MayAllow(policy, a.Action, "*"); may {
			marks = append(marks, sensitiveActions[i])
		}
	}
	if meaningOf(name) != reads && a.isOfEverything() {
		marks = append(marks, "writes to every resource")
	}
	return marks
}

// cutAction is the service and the name of an action; a star alone is both.
func cutAction(action string) (service, name string) {
	service, name, parted := strings.Cut(action, ":")
	if !parted {
		return action, action
	}
	return service, name
}

// isAnything says that a pattern fits every text, or every text that is long enough.
func isAnything(pattern string) bool {
	return strings.Contains(pattern, "*") && strings.Trim(pattern, "*?") == ""
}

// isOfEverything says that the atom is about every resource.
func (a Atom) isOfEverything() bool {
	return isAnything(a.Resource) || strings.HasSuffix(a.Resource, "*") && iampolicy.Target{Action: "*", Resource: a.Resource}.Contains(iampolicy.Target{Action: "*", Resource: "arn:*:*:*:*:*"})
}

// meaning is what an action does, as far as its name says.
type meaning int

const (
	unsaid meaning = iota
	reads
	writes
	deletes
)

// verbs are the beginnings of names whose meaning AWS's naming makes certain.
var verbs = []struct {
	word string
	is   meaning
}{{"Get", reads}, {"List", reads}, {"Describe", reads}, {"Put", writes}, {"Create", writes}, {"Update", writes}, {"Delete", deletes}}

// meaningOf is what the name of an action, without its service, says.
func meaningOf(name string) meaning {
	is, _ := cutVerb(name)
	return is
}

// cutVerb is the meaning of a name, and what follows the verb. A verb ends where the next word
// begins: with a capital letter or with a wildcard. Names are written in any case.
func cutVerb(name string) (is meaning, rest string) {
	for _, verb := range verbs {
		if len(name) < len(verb.word) || !strings.EqualFold(name[:len(verb.word)], verb.word) {
			continue
		}
		rest = name[len(verb.word):]
		if rest == "" || strings.ContainsAny(rest[:1], "*?") || rest[0] >= 'A' && rest[0] <= 'Z' {
			return verb.is, rest
		}
	}
	return unsaid, ""
}
