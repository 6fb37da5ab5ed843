package operator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// FuzzParseChecked demands that what is parsed is written as it was read, and that what is no
// verdict never passes.
func FuzzParseChecked(f *testing.F) {
	for _, verdict := range []operator.Verdict{operator.VerdictNoChange, operator.VerdictSatisfied, operator.VerdictNotToken, operator.VerdictMissing, operator.VerdictUnknown, operator.VerdictOverridden, "Fine"} {
		f.Add(string(verdict)+" "+hexDigest+" 2026-01-31T12:00:00Z", int64(0))
		f.Add(string(verdict)+" - 2026-01-31T12:00:00Z", noon.Unix())
	}
	f.Add("Satisfied "+hexDigest+" 2026-01-31T12:00:00.5Z", int64(1)<<62)
	f.Add("Satisfied "+hexDigest+" 2026-01-31T12:00:00+01:00", int64(-1)<<62)
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		got, err := operator.ParseChecked(text)
		if err != nil {
			if got.Verdict.MayPass() {
				t.Fatalf("%q is an error, and may pass", text)
			}
			return
		}
		if got.String() != text || !strings.HasPrefix(text, string(got.Verdict)+" ") {
			t.Fatalf("%q was read as %+v, which is written %q", text, got, got)
		}
		got.At = time.Unix(seconds, 0).UTC()
		again, err := operator.ParseChecked(got.String())
		if year := got.At.Year(); year < 1 || year > 9999 || got.At.IsZero() {
			if err == nil {
				t.Fatalf("%q was read, of a time that RFC 3339 does not have", got)
			}
		} else if err != nil || again != got {
			t.Fatalf("%+v was read as %+v, %v", got, again, err)
		}
	})
}
