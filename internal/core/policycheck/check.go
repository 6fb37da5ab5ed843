// Package policycheck finds the mistakes of a text in which policies are: one policy, a list of them, or an
// answer of AWS with some. It does no I/O.
package policycheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/tabard-dev/tabard/iampolicy"
)

// CodeTooLarge is the finding of a document beyond AWS's quota.
const CodeTooLarge iampolicy.Code = "TooLarge"

// Longest is how many bytes of a text are looked at: far more than AWS takes.
const Longest = 1 << 20

// Kinds are those of the policies that are known.
func Kinds() []iampolicy.Kind {
	return []iampolicy.Kind{
		iampolicy.IdentityPolicy, iampolicy.ResourcePolicy, iampolicy.TrustPolicy,
		iampolicy.BoundaryPolicy, iampolicy.SessionPolicy, iampolicy.ManagedPolicy,
	}
}

// Finding is one mistake. Lines and columns are of the text, counted from 1, columns in characters.
type Finding struct {
	Line     int                `json:"line"`
	Column   int                `json:"column"`
	Code     iampolicy.Code     `json:"code"`
	Severity iampolicy.Severity `json:"severity"`
	Message  string             `json:"message"`
}

// Checked is what became of one text.
type Checked struct {
	Findings []Finding `json:"findings"`
	// Room is how much of AWS's quota the document uses, of several the largest.
	Room *iampolicy.Room `json:"room,omitempty"`
	// More says that the text has more policies, or more mistakes, than the bounds let be told.
	More bool `json:"more,omitempty"`
}

// Bounds are how much is told of a text; zero is all.
type Bounds struct {
	Policies, Findings int
	// Bytes are how long a policy may be. Of a longer one that no quota holds nothing more is said.
	Bytes int
}

// Check finds the mistakes of the policies of a kind in a text. Without isJSON the text is none, and the
// findings are those up to where that shows.
func Check(kind iampolicy.Kind, lint iampolicy.LintOptions, text []byte) (out Checked, isJSON bool) {
	return CheckWithin(Bounds{}, kind, lint, text)
}

// CheckWithin is Check of as much as the bounds let be told.
func CheckWithin(most Bounds, kind iampolicy.Kind, lint iampolicy.LintOptions, text []byte) (out Checked, isJSON bool) {
	out, isJSON = Checked{Findings: []Finding{}}, true
	all := documents(kind, newSource(text), maxNesting, most.Policies)
	if most.Policies > 0 && len(all) > most.Policies {
		all, out.More = all[:most.Policies], true
	}
	for _, document := range all {
		if most.Bytes > 0 && len(document.text) > most.Bytes && out.addTooLarge(kind, document) {
			continue
		}
		isJSON = out.add(kind, lint, document) && isJSON
		if most.Findings > 0 && len(out.Findings) > most.Findings {
			out.Findings, out.More = out.Findings[:most.Findings], true
			break
		}
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return out, isJSON
}

// add finds the mistakes of one policy of the text. false: it is not JSON.
func (c *Checked) add(kind iampolicy.Kind, lint iampolicy.LintOptions, document source) bool {
	found, readable := mistakes(kind, lint, document.text)
	if room, err := iampolicy.RoomIn(kind.Quota(), document.text); err == nil && readable {
		if c.Room == nil || room.Left < c.Room.Left {
			c.Room = &room
		}
		if room.Left < 0 {
			found = append(found, tooLarge(room))
		}
	}
	document.locate(found)
	for _, f := range found {
		c.Findings = append(c.Findings, Finding{f.Line, f.Column, f.Code, f.Code.Severity(), f.Message})
	}
	return readable
}

// addTooLarge says of a policy that is far too long only that. false: it is not, or is no JSON.
func (c *Checked) addTooLarge(kind iampolicy.Kind, document source) bool {
	room, err := iampolicy.RoomIn(kind.Quota(), document.text)
	if err != nil || room.Left >= 0 || !json.Valid(document.text) {
		return false
	}
	if c.Room == nil || room.Left < c.Room.Left {
		c.Room = &room
	}
	f := tooLarge(room)
	document.locate(iampolicy.Errors{f})
	c.Findings, c.More = append(c.Findings, Finding{f.Line, f.Column, f.Code, f.Code.Severity(), f.Message}), true
	return true
}

// roleARN is the form of a role's ARN, with or without a path
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html).
var roleARN = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\x21-\x7e]+$`)
})

// IsRoleARN says that a text is the ARN of a role that may have a trust policy.
func IsRoleARN(text string) bool { return roleARN().MatchString(text) }

// mistakes returns what is wrong with a document. readable says that it is JSON
// at all, so that the list is complete.
func mistakes(kind iampolicy.Kind, lint iampolicy.LintOptions, document []byte) (found iampolicy.Errors, readable bool) {
	policy, err := iampolicy.Parse(document)
	found, _ = errors.AsType[iampolicy.Errors](err)
	if policy == nil {
		return found, !found.Has(iampolicy.CodeInvalidJSON) && !found.Has(iampolicy.CodeInvalidEncoding) && !found.Has(iampolicy.CodeTooDeep)
	}
	// What cannot be read is missing too, and saying so twice helps nobody.
	type place struct{ line, column int }
	known := map[place]bool{}
	for _, one := range found {
		known[place{one.Line, one.Column}] = true
	}
	invalid, _ := errors.AsType[iampolicy.Errors](policy.Validate(kind))
	found = slices.Clip(found)
	for _, one := range invalid {
		if !known[place{one.Line, one.Column}] {
			found = append(found, one)
		}
	}
	odd, _ := errors.AsType[iampolicy.Errors](policy.Lint(kind, lint))
	return append(found, odd...), true
}

// tooLarge is the finding of a document that a quota does not hold.
func tooLarge(room iampolicy.Room) *iampolicy.Error {
	text := fmt.Sprintf("the document counts %d against the quota of %d for %s policies; shorten it by %d", room.Used, room.Limit, room.Quota, -room.Left)
	if room.Quota == iampolicy.TrustQuota {
		text += ", or have AWS raise the account's quota, to 4096 at most"
	}
	return &iampolicy.Error{Line: 1, Column: 1, Code: CodeTooLarge, Message: text}
}
