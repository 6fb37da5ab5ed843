package operator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

var (
	hexDigest = "sha256:" + strings.Repeat("0123456789abcdef", 4)
	noon      = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
)

func TestWhichVerdictsMayPass(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[operator.Verdict]bool{
		operator.VerdictNoChange: true, operator.VerdictSatisfied: true, operator.VerdictNotToken: true, operator.VerdictOverridden: true,
		operator.VerdictMissing: false, operator.VerdictUnknown: false, "": false, "satisfied": false, "Satisfied-": false, "Fine": false,
	} {
		if verdict.MayPass() != want {
			t.Errorf("%q may pass: %t, want %t", verdict, !want, want)
		}
	}
}

func TestTheAnnotationOfACheckedPlan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]operator.Checked{
		"NoChange " + hexDigest + " 2026-01-31T12:00:00Z":   {Verdict: operator.VerdictNoChange, Digest: hexDigest, At: noon},
		"Satisfied " + hexDigest + " 2026-01-31T12:00:00Z":  {Verdict: operator.VerdictSatisfied, Digest: hexDigest, At: noon},
		"NotToken " + hexDigest + " 2026-01-31T12:00:00Z":   {Verdict: operator.VerdictNotToken, Digest: hexDigest, At: noon},
		"NotToken - 2026-01-31T12:00:00Z":                   {Verdict: operator.VerdictNotToken, At: noon},
		"Missing " + hexDigest + " 2026-01-31T12:00:00Z":    {Verdict: operator.VerdictMissing, Digest: hexDigest, At: noon},
		"Unknown - 2026-01-31T12:00:00Z":                    {Verdict: operator.VerdictUnknown, At: noon},
		"Unknown " + hexDigest + " 2026-01-31T12:00:00Z":    {Verdict: operator.VerdictUnknown, Digest: hexDigest, At: noon},
		"Overridden - 2026-01-31T12:00:00Z":                 {Verdict: operator.VerdictOverridden, At: noon},
		"Overridden " + hexDigest + " 2026-01-31T12:00:00Z": {Verdict: operator.VerdictOverridden, Digest: hexDigest, At: noon},
	} {
		if got, err := operator.ParseChecked(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
		if got := want.String(); got != text {
			t.Errorf("the text is %q, want %q", got, text)
		}
	}
	elsewhere := operator.Checked{Verdict: operator.VerdictNotToken, At: noon.Add(time.Millisecond).In(time.FixedZone("", 3600))}
	if got := elsewhere.String(); got != "NotToken - 2026-01-31T12:00:00Z" {
		t.Errorf("a time elsewhere is written as %q", got)
	}
	set := permission.Set{}
	if checked := (operator.Checked{Verdict: operator.VerdictUnknown, Digest: set.Digest(), At: noon}); checked.String() != "Unknown - 2026-01-31T12:00:00Z" {
		t.Errorf("a set of which nothing is known is written as %q", checked)
	}
}

func TestWhatIsNoAnnotationOfACheckedPlan(t *testing.T) {
	t.Parallel()
	const shape, verdict, digest, at, whole = "expected a verdict, a digest and a time", "expected one of the verdicts", "expected sha256: and 64", "expected a time such as", "expected the time in whole seconds of UTC"
	for text, why := range map[string]string{
		"":          shape,
		"Satisfied": shape,
		"Satisfied " + hexDigest + " 2026-01-31T12:00:00Z ":                               shape,
		" Satisfied " + hexDigest + " 2026-01-31T12:00:00Z":                               shape,
		"Satisfied  " + hexDigest + " 2026-01-31T12:00:00Z":                               shape,
		"Satisfied\t" + hexDigest + "\t2026-01-31T12:00:00Z":                              shape,
		"satisfied " + hexDigest + " 2026-01-31T12:00:00Z":                                verdict,
		" " + hexDigest + " 2026-01-31T12:00:00Z":                                         verdict,
		"Fine " + hexDigest + " 2026-01-31T12:00:00Z":                                     verdict,
		"Satisfied - 2026-01-31T12:00:00Z":                                                digest,
		"NoChange - 2026-01-31T12:00:00Z":                                                 digest,
		"Missing - 2026-01-31T12:00:00Z":                                                  digest,
		"NotToken  2026-01-31T12:00:00Z":                                                  digest,
		"Satisfied " + hexDigest[:70] + " 2026-01-31T12:00:00Z":                           digest,
		"Satisfied " + hexDigest + "0 2026-01-31T12:00:00Z":                               digest,
		"Satisfied " + strings.ToUpper(hexDigest) + " 2026-01-31T12:00:00Z":               digest,
		"Satisfied " + strings.TrimPrefix(hexDigest, "sha256:") + " 2026-01-31T12:00:00Z": digest,
		"Satisfied " + hexDigest + "\n 2026-01-31T12:00:00Z":                              digest,
		"Satisfied " + hexDigest + " today":                                               at,
		"Satisfied " + hexDigest + " 2026-02-30T12:00:00Z":                                at,
		"Satisfied " + hexDigest + " 0001-01-01T00:00:00Z":                                at,
		"Satisfied " + hexDigest + " 2026-01-31T12:00:00Z\n":                              at,
		"Satisfied " + hexDigest + " 2026-01-31T12:00:00.5Z":                              whole,
		"Satisfied " + hexDigest + " 2026-01-31T12:00:00+01:00":                           whole,
		"Satisfied " + hexDigest + " 2026-01-31T12:00:00+00:00":                           whole,
	} {
		got, err := operator.ParseChecked(text)
		if err == nil || !strings.Contains(err.Error(), why) || got != (operator.Checked{}) {
			t.Errorf("%q is %+v, %v; want an error that says %q", text, got, err, why)
		}
	}
}
