package kube

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

var (
	team = roleselector.Reference{
		Name: "team", UID: "u1", ResourceVersion: "7", Generation: 2, ARN: "arn:aws:iam::111111111111:role/team", Account: "111111111111",
	}
	uses      = roleselector.Decision{Outcome: roleselector.Use, Reason: roleselector.ReasonSelected, DecidedBy: roleselector.Unique, Selector: team}
	clash     = roleselector.Decision{Outcome: roleselector.Conflict, Reason: roleselector.ReasonConflict}
	unknown   = roleselector.Decision{Outcome: roleselector.NotYetKnown, Reason: roleselector.ReasonNotSynced}
	ownRole   = roleselector.Decision{Outcome: roleselector.NoSelector, Reason: roleselector.ReasonNoSelector, DecidedBy: roleselector.DefaultRole}
	elsewhere = roleselector.Recorded{Account: "222222222222"}
	noon      = metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	one       = metav1.NewTime(noon.Add(time.Hour))
)

// conditionsFor are those of a situation.
func conditionsFor(s roleselector.Situation) []metav1.Condition {
	return Conditions(s.Decision, roleselector.Proceed(s))
}

// brief is a list without its messages.
func brief(conditions []metav1.Condition) []string {
	var out []string
	for _, c := range conditions {
		out = append(out, c.Type+"="+string(c.Status)+" "+c.Reason)
	}
	return out
}

func TestEveryCourseHasItsConditions(t *testing.T) {
	moving := movingTo("111111111111")
	due := moving
	due.Announced = roleselector.Proceed(moving).Message
	stopped := func(recoverable, selected string) []string {
		return []string{"ACK.Recoverable=True " + recoverable, "ACK.IAMRoleSelected=" + selected, "ACK.ResourceSynced=Unknown " + recoverable, "Ready=False ACK.Recoverable"}
	}
	for name, each := range map[string]struct {
		situation roleselector.Situation
		want      []string
	}{
		"a role is used":       {roleselector.Situation{Decision: uses}, []string{"ACK.IAMRoleSelected=True Selected"}},
		"the own role is used": {roleselector.Situation{Decision: ownRole}, []string{"ACK.IAMRoleSelected=False NoSelector"}},
		"a conflict":           {roleselector.Situation{Decision: clash}, stopped("IAMRoleSelectorConflict", "False Conflict")},
		"nothing known yet":    {roleselector.Situation{Decision: unknown}, stopped("NotSynced", "Unknown NotSynced")},
		"another account":      {roleselector.Situation{Decision: uses, Recorded: elsewhere}, stopped("AccountMismatch", "False AccountMismatch")},
		"a change of account is announced": {
			moving,
			append(stopped("AccountChangePending", "False AccountChangePending"), "AccountChangePending=True AccountChangePending"),
		},
		"a change of account is due": {
			due, []string{"ACK.IAMRoleSelected=True Selected", "AccountChangePending=True AccountChangePending"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := conditionsFor(each.situation)
			if diff := cmp.Diff(each.want, brief(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, c := range got {
				if c.Message == "" {
					t.Errorf("%s has no message", c.Type)
				}
			}
		})
	}
}

// movingTo is a resource that may move to an account from where it was managed with
// a selector that still selects it.
func movingTo(account string) roleselector.Situation {
	uses := uses
	uses.OnAccountChange, uses.Selector.Account = v1alpha1.Recreate, account
	old := &v1alpha1.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: "old", UID: "u0"}, Spec: &v1alpha1.IAMRoleSelectorSpec{ARN: "arn:aws:iam::222222222222:role/old"},
	}
	return roleselector.Situation{
		Decision: uses, Recorded: roleselector.Recorded{Account: "222222222222", Selector: "old", SelectorUID: "u0"}, LastUsed: roleselector.Compile(old),
	}
}

// TestAnAnnouncementCountsFromWhenItWasMade, until the change is made, and not for a
// change to another account.
func TestAnAnnouncementCountsFromWhenItWasMade(t *testing.T) {
	const resync = time.Hour
	later := metav1.NewTime(one.Add(time.Second))
	first, second := movingTo("111111111111"), movingTo("333333333333")
	announced := Merge(nil, conditionsFor(first), noon)
	want := roleselector.Proceed(first).Message
	for name, c := range map[string]struct {
		conditions []metav1.Condition
		now        metav1.Time
		want       string
	}{
		"none":                       {nil, one, ""},
		"too early":                  {announced, one, ""},
		"after a resync":             {announced, later, want},
		"while the change goes on":   {Merge(announced, conditionsFor(inTurn(first, want)), one), later, want},
		"the change is another":      {Merge(announced, conditionsFor(second), one), later, ""},
		"the other one, in its turn": {Merge(announced, conditionsFor(second), one), metav1.NewTime(later.Add(resync)), roleselector.Proceed(second).Message},
		"it was called off":          {Merge(announced, conditionsFor(roleselector.Situation{Decision: uses}), one), later, ""},
	} {
		if got := Announced(c.conditions, c.now.Time, resync); got != c.want {
			t.Errorf("%s: announced is %q, want %q", name, got, c.want)
		}
	}
}

func inTurn(s roleselector.Situation, announced string) roleselector.Situation {
	s.Announced = announced
	return s
}

func TestTheSelectedRoleIsSaidInTheWordsOfACK(t *testing.T) {
	got := conditionsFor(roleselector.Situation{Decision: uses})[0].Message
	const want = "roleARN: arn:aws:iam::111111111111:role/team, selectorName: team, selectorResourceVersion: 7"
	if !strings.HasPrefix(got, want) {
		t.Errorf("it says %q, want it to begin with %q", got, want)
	}
}

func TestAStatusIsNotWrittenForAResourceVersion(t *testing.T) {
	have := Merge(nil, conditionsFor(roleselector.Situation{Decision: uses}), noon)
	relabelled, rewritten := uses, uses
	relabelled.Selector.ResourceVersion = "8"
	rewritten.Selector.ResourceVersion, rewritten.Selector.Generation = "9", 3
	if diff := cmp.Diff(have, Merge(have, conditionsFor(roleselector.Situation{Decision: relabelled}), one)); diff != "" {
		t.Errorf("only the selector's resource version is another (-before +after):\n%s", diff)
	}
	got := Merge(have, conditionsFor(roleselector.Situation{Decision: rewritten}), one)[0]
	if !strings.Contains(got.Message, "selectorResourceVersion: 9") || !got.LastTransitionTime.Equal(&noon) {
		t.Errorf("the selector says something else, and the status says %q since %v", got.Message, got.LastTransitionTime)
	}
}

func TestWhatSelectionBlockedIsNotSaidAfterwards(t *testing.T) {
	others := []metav1.Condition{
		{Type: "ACK.Advisory", Status: "True", Reason: "Old", LastTransitionTime: noon},
		{Type: "ACK.Recoverable", Status: "True", Reason: "ServiceUnavailable", LastTransitionTime: noon},
	}
	want := conditionsFor(roleselector.Situation{Decision: uses})
	if got := Merge(others, want, one); len(got) != 3 {
		t.Errorf("conditions of others are gone: %v", brief(got))
	}
	reasons := []roleselector.Reason{
		roleselector.ReasonConflict, roleselector.ReasonDenied, roleselector.ReasonChoiceNotPermitted, roleselector.ReasonAmbiguousChoice,
		roleselector.ReasonNoSelectorPolicy, roleselector.ReasonSelectorInvalid, roleselector.ReasonAssumeRoleInputInvalid,
		roleselector.ReasonChoiceInvalid, roleselector.ReasonTypeUnknown, roleselector.ReasonNotSynced, roleselector.ReasonNamespaceUnknown,
		roleselector.ReasonAccountMismatch, roleselector.ReasonRegionMismatch, roleselector.ReasonSelectorGone, roleselector.ReasonAccountChangePending,
		roleselector.ReasonTooManySessions,
	}
	for _, reason := range reasons {
		step := roleselector.Blocked
		if reason == roleselector.ReasonAccountChangePending {
			step = roleselector.AccountChangePending
		}
		stopped := Merge(nil, Conditions(clash, roleselector.Course{Step: step, Reason: reason, Message: "why"}), noon)
		got := Merge(stopped, want, one)
		for _, kind := range []string{"ACK.Recoverable", "AccountChangePending"} {
			if left := meta.FindStatusCondition(got, kind); left != nil {
				t.Errorf("%s: the status still has %s=%s %s", reason, left.Type, left.Status, left.Reason)
			}
		}
		if now := meta.FindStatusCondition(got, ConditionSelected); !now.LastTransitionTime.Equal(&one) {
			t.Errorf("%s: the transition is of %v, want %v", reason, now.LastTransitionTime, one)
		}
	}
}

func TestEachTransitionIsOneEvent(t *testing.T) {
	var have []metav1.Condition
	say := func(s roleselector.Situation) (string, string) {
		want := conditionsFor(s)
		event, changed := Transition(have, want)
		have = Merge(have, want, noon)
		if !changed {
			return "", ""
		}
		return event.Type + " " + event.Reason, event.Message
	}
	otherVersion := uses
	otherVersion.Selector.ResourceVersion = "8"
	for n, each := range []struct {
		decision roleselector.Decision
		want     string
	}{
		{unknown, ""}, {uses, "Normal Selected"}, {uses, ""}, {otherVersion, ""},
		{clash, "Warning IAMRoleSelectorConflict"}, {clash, ""}, {uses, "Normal Selected"}, {ownRole, "Normal NoSelector"},
	} {
		got, message := say(roleselector.Situation{Decision: each.decision})
		if got != each.want {
			t.Errorf("%d: the event is %q, want %q", n, got, each.want)
		}
		if n == 4 && !strings.Contains(message, "before: Selected, roleARN: arn:aws:iam::111111111111:role/team") {
			t.Errorf("the event does not say what was before: %s", message)
		}
	}
}

func TestAnotherGenerationOfTheResourceIsNoTransition(t *testing.T) {
	have, want := conditionsFor(roleselector.Situation{Decision: clash}), conditionsFor(roleselector.Situation{Decision: clash})
	for i := range want {
		want[i].ObservedGeneration = 2
	}
	if event, changed := Transition(have, want); changed {
		t.Errorf("the event is %+v, want none", event)
	}
	if merged := Merge(have, want, one); merged[0].ObservedGeneration != 2 {
		t.Errorf("the condition is of generation %d, want 2", merged[0].ObservedGeneration)
	}
}

func TestMergeLeavesWhatItIsGiven(t *testing.T) {
	have := Merge(nil, conditionsFor(roleselector.Situation{Decision: clash}), noon)
	before := append([]metav1.Condition(nil), have...)
	want := conditionsFor(roleselector.Situation{Decision: uses})
	Merge(have, want, one)
	if diff := cmp.Diff(before, have, cmpopts.EquateComparable()); diff != "" {
		t.Errorf("the list that it was given (-before +after):\n%s", diff)
	}
	if !want[0].LastTransitionTime.IsZero() {
		t.Error("the condition that it was given has a time")
	}
}

func TestTheChosenSelectorIsTheCoursesOne(t *testing.T) {
	index := roleselector.NewIndex(roleselector.Options{})
	index.MarkSynced(roleselector.Everything)
	index.Set(everything("team", 1, inNamespaces("prod")))
	query := roleselector.Query{
		Namespace: "prod", NamespaceKnown: true, Group: bucketKind.Group, Version: bucketKind.Version, Kind: bucketKind.Kind,
	}
	living := roleselector.Situation{Decision: index.Decide(query)}
	if got := Chosen(living, roleselector.Proceed(living)); got != index.Get("team") {
		t.Errorf("of a living resource it is %v", got)
	}
	dying := roleselector.Situation{
		Decision: clash, Deleting: true, Recorded: roleselector.Recorded{Account: "111111111111", Selector: "team", SelectorUID: "of-team"},
		LastUsed: index.LastUsed(query, roleselector.Recorded{Selector: "team", SelectorUID: "of-team"}),
	}
	if got := Chosen(dying, roleselector.Proceed(dying)); got != index.Get("team") {
		t.Errorf("of a dying resource it is %v, want the one on record", got)
	}
	for name, s := range map[string]roleselector.Situation{"a conflict": {Decision: clash}, "the own role": {Decision: ownRole}} {
		if got := Chosen(s, roleselector.Proceed(s)); got != nil {
			t.Errorf("%s: it is %v, want none", name, got.Reference())
		}
	}
}
