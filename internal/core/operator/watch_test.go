package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// seen is a plan that waits, and what is said of the operators that it installs: CSV a of the
// Subscription a and so on.
func seen(checked string, verdicts ...operator.Verdict) operator.Watched {
	w := operator.Watched{Plan: operator.Plan{Name: "install-b", UID: "u", ResourceVersion: "7", Phase: "RequiresApproval", Checked: checked}}
	for i, v := range verdicts {
		name := string(rune('a' + i))
		j := operator.Judgement{CSV: name + ".v2", Verdict: v, Why: "because"}
		if v != operator.VerdictNotToken && v != operator.VerdictUnknown {
			j.Digest = hexDigest
		}
		w.Judged = append(w.Judged, j)
		w.Subscriptions = append(w.Subscriptions, operator.Subscription{Namespace: "ns", Name: name, UID: "uid-" + name, CurrentCSV: j.CSV})
	}
	return w
}

// said are steps as text: the reasons with their Subscriptions, and the annotation.
func said(steps []operator.Step) string {
	var out []string
	for _, step := range steps {
		switch step := step.(type) {
		case operator.Told:
			out = append(out, step.Kind+" "+step.Reason+" "+step.Subscription.Name)
		case operator.Note:
			out = append(out, step.Plan.ResourceVersion+" "+step.Text)
		}
	}
	return strings.Join(out, "; ")
}

func TestWatch(t *testing.T) {
	const (
		at    = " 2026-01-31T12:00:00Z"
		other = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	)
	now := time.Date(2026, 1, 31, 13, 0, 0, 0, time.UTC)
	const then = " 2026-01-31T13:00:00Z"
	for name, test := range map[string]struct {
		watched operator.Watched
		verdict operator.Verdict
		want    string
	}{
		"nothing was noted":            {seen("", operator.VerdictMissing), operator.VerdictMissing, "Warning PermissionsMissing a; 7 Missing " + hexDigest + then},
		"no change":                    {seen("Missing "+hexDigest+at, operator.VerdictMissing), operator.VerdictMissing, ""},
		"another digest":               {seen("Missing "+other+at, operator.VerdictMissing), operator.VerdictMissing, "7 Missing " + hexDigest + then},
		"it is enough now":             {seen("Missing "+hexDigest+at, operator.VerdictSatisfied), operator.VerdictSatisfied, "Normal PermissionsSatisfied a; 7 Satisfied " + hexDigest + then},
		"it is not enough any more":    {seen("Satisfied "+hexDigest+at, operator.VerdictMissing), operator.VerdictMissing, "Warning PermissionsMissing a; 7 Missing " + hexDigest + then},
		"one that passes for another":  {seen("Satisfied "+hexDigest+at, operator.VerdictNoChange), operator.VerdictNoChange, "7 NoChange " + hexDigest + then},
		"unknown":                      {seen("Satisfied "+hexDigest+at, operator.VerdictUnknown), operator.VerdictUnknown, "Warning PermissionsUnknown a; 7 Unknown -" + then},
		"overridden":                   {seen("Overridden -"+at, operator.VerdictMissing), operator.VerdictOverridden, ""},
		"overridden, with a digest":    {seen("Overridden "+other+at, operator.VerdictMissing), operator.VerdictOverridden, ""},
		"overridden, cut off":          {seen("Overridden", operator.VerdictMissing), operator.VerdictMissing, "Warning PermissionsMissing a; 7 Missing " + hexDigest + then},
		"the worst of several is told": {seen("", operator.VerdictSatisfied, operator.VerdictMissing, operator.VerdictUnknown), operator.VerdictMissing, "Warning PermissionsMissing b; 7 Missing sha256:"},
		"no operator":                  {seen(""), operator.VerdictNotToken, "7 NotToken -" + then},
	} {
		verdict, steps := operator.Watch(test.watched, now)
		if got := said(steps); verdict != test.verdict || got != test.want && (!strings.HasSuffix(test.want, "sha256:") || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %s, %q, want %s, %q", name, verdict, got, test.verdict, test.want)
		}
	}
}

// TestANewPlanSettles: until OLM has named the version in its Subscription nothing is said of it, and of
// one that it never names the verdict is noted later.
func TestANewPlanSettles(t *testing.T) {
	w := seen("", operator.VerdictUnknown)
	w.Judged[0].Orphan, w.Plan.Created = true, noon
	if verdict, steps := operator.Watch(w, noon.Add(operator.Settles-time.Second)); verdict != "" || len(steps) != 0 {
		t.Errorf("%s: %s", verdict, said(steps))
	}
	if verdict, steps := operator.Watch(w, noon.Add(operator.Settles)); verdict != operator.VerdictUnknown || len(steps) == 0 {
		t.Errorf("%s: %s", verdict, said(steps))
	}
	w.Judged[0].Orphan = false
	if verdict, steps := operator.Watch(w, noon.Add(time.Second)); verdict != operator.VerdictUnknown || len(steps) == 0 {
		t.Errorf("%s: %s", verdict, said(steps))
	}
}

// TestWhatWasNotedIsNotedOnce: whatever the verdicts are, the next pass has nothing to write.
func TestWhatWasNotedIsNotedOnce(t *testing.T) {
	for _, first := range operator.Verdicts() {
		for _, second := range operator.Verdicts() {
			w := seen("by hand", first, second)
			verdict, steps := operator.Watch(w, noon)
			note, is := steps[len(steps)-1].(operator.Note)
			if !is {
				t.Fatalf("%s and %s: %s", first, second, said(steps))
			}
			w.Plan.Checked = note.Text
			if again, more := operator.Watch(w, noon.Add(time.Hour)); again != verdict || len(more) != 0 {
				t.Errorf("%s and %s: first %q, then %q", first, second, said(steps), said(more))
			}
		}
	}
}

// TestTheSameEventHasTheSameName, and no other has.
func TestTheSameEventHasTheSameName(t *testing.T) {
	first := func(w operator.Watched) string {
		_, steps := operator.Watch(w, noon)
		told, is := steps[0].(operator.Told)
		if !is {
			t.Fatalf("no event: %s", said(steps))
		}
		return told.Name()
	}
	names := map[string]bool{}
	for _, w := range []operator.Watched{
		seen("", operator.VerdictMissing), seen("", operator.VerdictUnknown), seen("Unknown - 2026-01-31T12:00:00Z", operator.VerdictMissing),
		seen("Unknown - 2026-01-31T12:00:01Z", operator.VerdictMissing),
	} {
		again := w
		if first(w) != first(again) || names[first(w)] {
			t.Errorf("the event of %q is named %s, as another, or differently each time", w.Plan.Checked, first(w))
		}
		names[first(w)] = true
	}
}

func TestOutOfSync(t *testing.T) {
	s := operator.Subscription{Namespace: "ns", Name: "a", UID: "u", Env: map[string]string{"ROLEARN": "arn:aws:iam::111122223333:role/p"}}
	for _, verdict := range operator.Verdicts() {
		told, is := operator.OutOfSync(s, operator.Judgement{CSV: "a.v1", Verdict: verdict})
		if is != (verdict == operator.VerdictMissing) {
			t.Errorf("%s: told %t", verdict, is)
		}
		if is && (told.Kind != "Warning" || told.Reason != operator.ReasonOutOfSync || !strings.Contains(told.Note, "role/p")) {
			t.Errorf("%+v", told)
		}
	}
}

func TestChoose(t *testing.T) {
	var all []operator.Candidate
	for i := range 100 {
		all = append(all, operator.Candidate{Name: fmt.Sprintf("install-%02d", i), Created: noon.Add(time.Duration(i) * time.Second)})
	}
	got := operator.Choose(all, []operator.Subscription{{Plan: "install-03"}, {Plan: "gone"}, {}})
	if len(got) != operator.MostPlans || got[0] != "install-03" || got[1] != "install-99" || slices.Contains(got, "install-80") {
		t.Errorf("chosen are %v", got)
	}
	if got := operator.Choose(all[:2], nil); !slices.Equal(got, []string{"install-01", "install-00"}) {
		t.Errorf("chosen of two are %v", got)
	}
}

func TestNotJudged(t *testing.T) {
	if _, many := operator.NotJudged(operator.Plan{CSVs: make([]string, operator.MostOperators)}); many {
		t.Error("as many as are judged are too many")
	}
	if j, many := operator.NotJudged(operator.Plan{CSVs: make([]string, operator.MostOperators+1)}); !many || j.Verdict != operator.VerdictUnknown {
		t.Errorf("more than are judged: %t, %+v", many, j)
	}
}
