package sufficiency

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// largestSet bounds the documents of one set, in bytes: a role's quotas allow less
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html).
const largestSet = 512 << 10

// The bounds of the work. mostStars are the * of one pattern: the work of a comparison grows with
// their power. mostQuestions are comparisons of two statements, or of one with a whole policy.
const (
	mostStars     = 8
	mostQuestions = 20_000
)

// newest is the version of the language of policies in which ${ begins a variable.
const newest = "2012-10-17"

// statement is one of a document, for itself.
type statement struct {
	// name is what people find it by.
	name string
	deny bool
	// allow is a policy that allows what the statement is about, under its conditions, and bare the
	// same without conditions.
	allow, bare *iampolicy.Policy
	keys        []string
}

// set is the policies of a role, or its permissions boundary: each has to allow.
type set struct {
	name string
	// all are the statements of its documents as one policy, and generous the same where conditions
	// of an Allow count as met, and those of a Deny as not met.
	all, generous *iampolicy.Policy
	statements    []statement
	// doubt says what was not read; empty for nothing.
	doubt string
	// left are the questions that may still be asked; all sets share them.
	left *int
}

// ask counts a question, and says whether it may be asked.
func (s set) ask() bool {
	*s.left--
	return *s.left >= 0
}

func (s set) contains(outer, inner *iampolicy.Policy) iampolicy.Answer {
	if !s.ask() {
		return iampolicy.Undecidable
	}
	return iampolicy.Contains(outer, inner).Answer
}

// touches says that a statement, its conditions aside, may be about an atom.
func (s set) touches(one statement, a permission.Atom) bool {
	if !s.ask() {
		return false
	}
	may, _ := iampolicy.MayAllow(one.bare, a.Action, a.Resource)
	return may
}

// permissions judges each atom by the role's policies and by its boundary.
func (r *Report) permissions(q Question, d Documents) {
	left := mostQuestions
	sets := []set{newSet("the role's policies", d.Policies, d.Unlisted, &left)}
	if d.Boundary != nil {
		sets = append(sets, newSet("the permissions boundary", []Document{*d.Boundary}, "", &left))
	}
	type key struct{ action, resource, condition string }
	known := map[key]Permission{}
	for _, a := range q.Atoms {
		if a.Effect == "Deny" {
			r.advise(a, sets[0])
			continue
		}
		if len(r.Permissions) >= mostChecked {
			r.Permissions = append(r.Permissions, Permission{Atom: a, Result: Undecided, Why: fmt.Sprintf("more than %d permissions are not looked at", mostChecked)})
			break
		}
		at := key{strings.ToLower(a.Action), a.Resource, string(a.Condition)}
		p, ok := known[at]
		if !ok {
			p = judged(a, sets)
			known[at] = p
		}
		p.Atom = a
		r.Permissions = append(r.Permissions, p)
	}
	r.broader(q, sets[0])
}

// judged is the worst answer of the sets.
func judged(a permission.Atom, sets []set) Permission {
	out := Permission{Atom: a, Result: Granted}
	if a.Cloud != permission.AWS {
		return Permission{Atom: a, Result: Undecided, Why: "roles of other clouds are not evaluated"}
	}
	if strings.Count(a.Action, "*") > mostStars || strings.Count(a.Resource, "*") > mostStars {
		return Permission{Atom: a, Result: Undecided, Why: fmt.Sprintf("a pattern in it has more than %d *", mostStars)}
	}
	asked, err := policyOf(a)
	if err != nil {
		return Permission{Atom: a, Result: Undecided, Why: "what is asked for is no statement that AWS takes: " + err.Error()}
	}
	for _, s := range sets {
		result, why := s.judge(a, asked)
		if result.verdict().isWorse(out.Result.verdict()) {
			out.Result, out.Why = result, why
		}
	}
	return out
}

// policyOf is what an atom asks for as a policy.
func policyOf(a permission.Atom) (*iampolicy.Policy, error) {
	document := iampolicy.Document{{Actions: []string{a.Action}, Resources: []string{a.Resource}, Conditions: a.Condition.Tests()}}
	return iampolicy.Parse([]byte(document.String()))
}

// judge is the answer of one set. A doubt is no obstacle only to what a Deny takes for sure.
func (s set) judge(a permission.Atom, asked *iampolicy.Policy) (Result, string) {
	for _, one := range s.statements {
		if one.deny && s.contains(one.allow, asked) == iampolicy.Yes {
			return Denied, one.name + " denies it"
		}
	}
	if s.doubt != "" {
		return Undecided, s.doubt
	}
	if !s.ask() {
		return Undecided, "there is too much to compare"
	}
	contained := iampolicy.Contains(s.all, asked)
	switch {
	case contained.Answer == iampolicy.Yes:
		return Granted, ""
	case strings.Contains(a.Resource, "${"):
		return Undecided, fmt.Sprintf("the resource has a variable, and whether %s allow it depends on its value", s.name)
	case *s.left <= 0:
		return Undecided, "there is too much to compare"
	}
	if may, _ := iampolicy.MayAllow(s.all, a.Action, a.Resource); !may {
		return Lacking, fmt.Sprintf("no statement of %s allows it", s.name)
	}
	if s.contains(s.generous, asked) == iampolicy.Yes {
		return Conditional, "it is granted only under conditions: " + s.conditions(a)
	}
	if contained.Answer == iampolicy.No {
		return Partly, s.part(a, contained)
	}
	return Undecided, fmt.Sprintf("no rule decides whether %s allow all of it", s.name)
}

// conditions names the statements whose conditions decide.
func (s set) conditions(a permission.Atom) string {
	var out []string
	for _, one := range s.statements {
		if len(one.keys) > 0 && s.touches(one, a) {
			verb := "allows"
			if one.deny {
				verb = "denies"
			}
			out = append(out, fmt.Sprintf("%s %s by %s", one.name, verb, strings.Join(one.keys, ", ")))
		}
	}
	if len(out) == 0 {
		return "those of " + s.name
	}
	return strings.Join(out, "; ")
}

// part says which part of an atom is not granted.
func (s set) part(a permission.Atom, c iampolicy.Containment) string {
	var allowed []string
	for _, one := range s.statements {
		switch {
		case !s.touches(one, a):
		case one.deny:
			return one.name + " denies a part of it"
		default:
			allowed = append(allowed, one.name)
		}
	}
	return fmt.Sprintf("%s allow a part of it (%s), and not all of %s on %s", s.name, strings.Join(allowed, ", "), c.Action, c.Resource)
}

// newSet reads documents. What cannot be read is a doubt.
func newSet(name string, documents []Document, unlisted string, left *int) set {
	s := set{name: name, left: left}
	var doubts []string
	if unlisted != "" {
		doubts = append(doubts, unlisted)
	}
	size := 0
	var all, generous []credentials.Statement
	for _, d := range documents {
		size += len(d.Text)
		switch policy, err := iampolicy.Parse([]byte(d.Text)); {
		case d.Unread != "":
			doubts = append(doubts, d.Name+" was not read: "+d.Unread)
			continue
		case size > largestSet:
			doubts = append(doubts, fmt.Sprintf("%s and those before it have more than %d KiB", d.Name, largestSet>>10))
			continue
		case err != nil:
			doubts = append(doubts, d.Name+" cannot be read: "+err.Error())
			continue
		case policy.Version() != newest && strings.Contains(d.Text, "${"):
			// There ${ is a text, and all policies are read together as those in which it is a variable.
			doubts = append(doubts, fmt.Sprintf("%s is of an older version than %s, in which ${ is no variable", d.Name, newest))
			continue
		}
		statements := credentials.Statements(d.Text)
		all = append(all, statements...)
		for i, raw := range statements {
			one, err := newStatement(d.Name, i, raw)
			if err != nil {
				doubts = append(doubts, fmt.Sprintf("%s cannot be read: %s", one.name, err))
				continue
			}
			s.statements = append(s.statements, one)
			if !one.deny {
				generous = append(generous, without(raw, "Condition"))
			} else if len(one.keys) == 0 {
				generous = append(generous, raw)
			}
		}
	}
	var err [2]error
	s.all, err[0] = united(all)
	s.generous, err[1] = united(generous)
	for _, one := range err {
		if one != nil {
			doubts = append(doubts, name+" cannot be read together: "+one.Error())
		}
	}
	s.doubt = strings.Join(doubts, "; ")
	return s
}

// newStatement reads one statement of a document.
func newStatement(document string, index int, raw credentials.Statement) (statement, error) {
	var sid, effect string
	for key, into := range map[string]*string{"Sid": &sid, "Effect": &effect} {
		if text, ok := raw[key]; ok {
			if err := json.Unmarshal(text, into); err != nil {
				return statement{name: statementName(index, "") + " of " + document}, fmt.Errorf("its %s is no text", key)
			}
		}
	}
	out := statement{name: statementName(index, sid) + " of " + document, deny: effect == "Deny"}
	allowing := without(raw, "")
	allowing["Effect"] = json.RawMessage(`"Allow"`)
	var err error
	if out.allow, err = united([]credentials.Statement{allowing}); err != nil {
		return out, err
	}
	if out.bare, err = united([]credentials.Statement{without(allowing, "Condition")}); err != nil {
		return out, err
	}
	if len(raw["Condition"]) > 0 {
		for _, key := range out.allow.ContextKeys() {
			if !slices.Contains(out.bare.ContextKeys(), key) {
				out.keys = append(out.keys, key)
			}
		}
	}
	return out, intricate(raw)
}

// intricate refuses a statement with a pattern that would take long to compare.
func intricate(s credentials.Statement) error {
	for _, element := range []string{"Action", "NotAction", "Resource", "NotResource"} {
		for _, pattern := range s.List(element) {
			if strings.Count(pattern, "*") > mostStars {
				return fmt.Errorf("a pattern in its %s has more than %d *", element, mostStars)
			}
		}
	}
	return nil
}

// without is a statement without one element.
func without(s credentials.Statement, name string) credentials.Statement {
	out := credentials.Statement{}
	for key, value := range s {
		if key != name {
			out[key] = value
		}
	}
	return out
}

// united is one policy of all statements; nil, which allows nothing, of none.
func united(all []credentials.Statement) (*iampolicy.Policy, error) {
	if len(all) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(map[string]any{"Version": newest, "Statement": all})
	if err != nil {
		return nil, err
	}
	return iampolicy.Parse(text)
}
