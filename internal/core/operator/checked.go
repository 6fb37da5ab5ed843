package operator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/core/cloudid"
)

// CheckedAnnotation is the annotation of an InstallPlan that says what came of the check of its
// permissions: a Checked as text. The policy in config/operators/approval-policy.yaml reads it.
const CheckedAnnotation = "operators.tabard.dev/permission-check"

// Verdict is what the check of a plan came to: whether the operators that the plan installs ask for
// more than their roles have.
type Verdict string

// The verdicts.
const (
	// VerdictNoChange is a plan whose operators ask for just what the installed versions ask for.
	VerdictNoChange Verdict = "NoChange"
	// VerdictSatisfied is a plan whose operators ask for something else, which their roles have.
	VerdictSatisfied Verdict = "Satisfied"
	// VerdictNotToken is a plan whose operators use no cloud role.
	VerdictNotToken Verdict = "NotToken"
	// VerdictMissing is a plan with an operator that asks for what its role does not have.
	VerdictMissing Verdict = "Missing"
	// VerdictUnknown is a plan of which it cannot be told.
	VerdictUnknown Verdict = "Unknown"
	// VerdictOverridden is a plan that was Missing or Unknown, and which a person approved nevertheless.
	VerdictOverridden Verdict = "Overridden"
)

// Verdicts are all of them.
func Verdicts() []Verdict {
	return []Verdict{VerdictNoChange, VerdictSatisfied, VerdictNotToken, VerdictMissing, VerdictUnknown, VerdictOverridden}
}

// MayPass says whether a plan of this verdict may be approved. What is no verdict may not.
func (v Verdict) MayPass() bool {
	return slices.Contains([]Verdict{VerdictNoChange, VerdictSatisfied, VerdictNotToken, VerdictOverridden}, v)
}

// Checked is the value of CheckedAnnotation.
type Checked struct {
	// Verdict is what the check came to.
	Verdict Verdict
	// Digest is that of what the plan's operators ask for, as permission.Set.Digest prints it. Empty
	// where there is none, which only VerdictNotToken, VerdictUnknown and VerdictOverridden may have.
	Digest string
	// At is when the check was made. The text has its second, in UTC.
	At time.Time
}

// noDigest is what the text has where there is no digest.
const noDigest = "-"

// digest is what permission.Set.Digest prints.
var digest = cloudid.Shape(`sha256:[0-9a-f]{64}`)

// String is the text of the annotation: the verdict, the digest or -, and the time as RFC 3339, with
// one blank between. Of a Checked that ParseChecked gave it is the text that was parsed.
func (c Checked) String() string {
	return c.Untimed() + " " + c.At.UTC().Format(time.RFC3339)
}

// Untimed is the text without the time: what a check that is still to be noted will say.
func (c Checked) Untimed() string {
	asked := c.Digest
	if asked == "" {
		asked = noDigest
	}
	return string(c.Verdict) + " " + asked
}

// ParseChecked reads the text of the annotation. Anything but what String writes is an error, so
// that a text which was cut off or written by hand counts as no check.
func ParseChecked(text string) (Checked, error) {
	fail := func(why string) (Checked, error) {
		return Checked{}, fmt.Errorf("the annotation %s is %.200q, %s", CheckedAnnotation, text, why)
	}
	words := strings.Split(text, " ")
	if len(words) != 3 {
		return fail("expected a verdict, a digest and a time, with one blank between")
	}
	out := Checked{Verdict: Verdict(words[0]), Digest: words[1]}
	mayLack := slices.Contains([]Verdict{VerdictNotToken, VerdictUnknown, VerdictOverridden}, out.Verdict)
	switch {
	case !out.Verdict.MayPass() && out.Verdict != VerdictMissing && out.Verdict != VerdictUnknown:
		return fail("expected one of the verdicts NoChange, Satisfied, NotToken, Missing, Unknown and Overridden at its beginning")
	case mayLack && out.Digest == noDigest:
		out.Digest = ""
	case !digest(out.Digest):
		return fail("expected sha256: and 64 hexadecimal digits after the verdict; NotToken, Unknown and Overridden may have - instead")
	}
	at, err := time.Parse(time.RFC3339, words[2])
	if err != nil || at.IsZero() {
		return fail("expected a time such as 2026-01-31T12:00:00Z at its end")
	}
	out.At = at.UTC()
	if out.String() != text {
		return fail("expected the time in whole seconds of UTC, such as 2026-01-31T12:00:00Z")
	}
	return out, nil
}
