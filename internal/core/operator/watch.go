package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The reasons of the events about a Subscription that the controller operators writes.
const (
	// ReasonMissing is of a waiting plan that asks for more than the role has.
	ReasonMissing = "PermissionsMissing"
	// ReasonUnknown is of a waiting plan of which it cannot be told.
	ReasonUnknown = "PermissionsUnknown"
	// ReasonSatisfied is of a waiting plan that asks for nothing that the role does not have.
	ReasonSatisfied = "PermissionsSatisfied"
	// ReasonOutOfSync is of a role that is not enough for the version that is installed.
	ReasonOutOfSync = "RoleOutOfSync"
)

// The bounds of one pass over a namespace. Anybody who may write there decides how much there is.
const (
	// MostPlans is how many plans are looked at.
	MostPlans = 20
	// MostOperators is how many operators of a plan, and how many installed ones, are judged.
	MostOperators = 50
)

// ErrChanged is an object that somebody changed since it was read.
var ErrChanged = errors.New("it was changed in between: look again")

// Step is something to be written: Note or Told.
type Step interface{ step() }

// Note is the text of CheckedAnnotation for a plan, as it was read.
type Note struct {
	Plan Plan
	Text string
}

func (Note) step() {}

// Told is an event about a Subscription. Kind is Normal or Warning.
type Told struct {
	Subscription       Subscription
	Kind, Reason, Note string
	// Once are the texts that tell this event from others of its Subscription and Reason.
	Once []string
}

func (Told) step() {}

// Name is that of the event. It is the same for what is told twice, so that the API server refuses
// the second one, also after a restart.
func (t Told) Name() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", append([]string{t.Subscription.UID, t.Reason}, t.Once...)))
	return "tabard-" + hex.EncodeToString(sum[:16])
}

// Watched is a plan that waits, and what is said of each operator that it installs.
type Watched struct {
	Plan   Plan
	Judged []Judgement
	// Subscriptions are those of the namespace.
	Subscriptions []Subscription
}

// Settles is how long OLM may take to name a version in its Subscription after it has planned it.
const Settles = 30 * time.Second

// isSettling says that a version of a new plan may come to its Subscription yet.
func (w Watched) isSettling(now time.Time) bool {
	return now.Sub(w.Plan.Created) < Settles && slices.ContainsFunc(w.Judged, func(j Judgement) bool { return j.Orphan })
}

// Watch decides what is written about a waiting plan, and says its verdict. Nothing is written where
// a person has overridden the check, and nothing where only time has gone by since the last check. A
// new plan that may settle yet has no verdict.
// The events come first: a pass that ends between the two makes them again by the same name.
func Watch(w Watched, now time.Time) (Verdict, []Step) {
	before, err := ParseChecked(w.Plan.Checked)
	if err == nil && before.Verdict == VerdictOverridden {
		return VerdictOverridden, nil
	}
	if w.isSettling(now) {
		return "", nil
	}
	verdict, digest := Sum(w.Judged)
	if err == nil && before.Verdict == verdict && before.Digest == digest {
		return verdict, nil
	}
	var steps []Step
	if reasonOf(before.Verdict) != reasonOf(verdict) {
		steps = w.events(reasonOf(verdict))
	}
	return verdict, append(steps, Note{Plan: w.Plan, Text: Checked{Verdict: verdict, Digest: digest, At: now}.String()})
}

// reasonOf is the reason of an event about a verdict; empty for no verdict.
func reasonOf(v Verdict) string {
	switch v {
	case VerdictMissing:
		return ReasonMissing
	case VerdictUnknown:
		return ReasonUnknown
	case VerdictNoChange, VerdictSatisfied, VerdictNotToken, VerdictOverridden:
		return ReasonSatisfied
	}
	return ""
}

// events are those about the Subscriptions whose operators have the plan's verdict.
func (w Watched) events(reason string) (out []Step) {
	for _, j := range w.Judged {
		if reasonOf(j.Verdict) != reason {
			continue
		}
		for _, s := range w.Subscriptions {
			if len(out) == MostOperators {
				return out
			}
			if s.CurrentCSV == j.CSV {
				out = append(out, w.event(s, j, reason))
			}
		}
	}
	return out
}

func (w Watched) event(s Subscription, j Judgement, reason string) Told {
	out := Told{Subscription: s, Kind: "Warning", Reason: reason, Once: []string{w.Plan.UID, w.Plan.Checked}}
	out.Note = fmt.Sprintf("InstallPlan %s waits for an approval of %s: %s: %s.", w.Plan.Name, j.CSV, j.Verdict, j.Why)
	if reason == ReasonSatisfied {
		out.Kind = "Normal"
		return out
	}
	out.Note += fmt.Sprintf(" More: tabard operators approve %s -n %s --dry-run", s.Name, s.Namespace)
	return out
}

// OutOfSync is the event about a role that is not enough for the version that is installed. There is
// none for another verdict: one that is unknown says nothing against the role.
func OutOfSync(s Subscription, j Judgement) (Told, bool) {
	return Told{
		Subscription: s, Kind: "Warning", Reason: ReasonOutOfSync, Once: []string{j.CSV, string(j.Verdict)},
		Note: fmt.Sprintf("%s is installed, and the role %s is not enough for what it declares. What is missing: tabard operators check says it for the role; tabard operators handoff has it extended", j.CSV, IdentityOf(s.Env)),
	}, j.Verdict == VerdictMissing
}

// NotJudged is what is said of a plan that installs more operators than are judged.
func NotJudged(p Plan) (Judgement, bool) {
	return Judgement{Verdict: VerdictUnknown, Why: fmt.Sprintf("the plan installs %d operators, and at most %d are judged", len(p.CSVs), MostOperators)}, len(p.CSVs) > MostOperators
}

// Candidate is an InstallPlan of which it is not known whether it waits.
type Candidate struct {
	Name    string
	Created time.Time
}

// Choose are the names of the plans to look at, MostPlans at most: first those that a Subscription
// refers to, then the newest.
func Choose(all []Candidate, subscriptions []Subscription) (out []string) {
	referred := map[string]bool{}
	for _, s := range subscriptions {
		referred[s.Plan] = true
	}
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Candidate) int {
		switch {
		case referred[a.Name] != referred[b.Name]:
			if referred[a.Name] {
				return -1
			}
			return 1
		case !a.Created.Equal(b.Created):
			return b.Created.Compare(a.Created)
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, c := range sorted[:min(len(sorted), MostPlans)] {
		out = append(out, c.Name)
	}
	return out
}
