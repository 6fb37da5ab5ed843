package bucket

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

func tagged(b *Bucket) Sight { return Sight{Presence: Ours, Tags: b.Tags()} }

func recreating(s *v1alpha1.IAMRoleSelector) { s.Spec.OnAccountChange = v1alpha1.Recreate }

// selectable is one of several that may be offered at once, preferred the one that is
// used unless somebody chooses.
func selectable(s *v1alpha1.IAMRoleSelector) {
	s.Spec.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable}
}

func preferred(s *v1alpha1.IAMRoleSelector) {
	s.Spec.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable, Default: true}
}

// anew is one that was deleted and made anew with its role.
func anew(s *v1alpha1.IAMRoleSelector) { s.UID = "another-uid" }

func announced(account string, since time.Duration) func(*Bucket) {
	return func(b *Bucket) {
		b.Status.Conditions = []metav1.Condition{{
			Type: kube.ConditionAccountChangePending, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-since)),
			Reason:  "AccountChangePending",
			Message: "The resource is in the account " + b.Recorded().Account + ". It will be deleted there, and then made anew in " + account + ".",
		}}
	}
}

// TestEachStepFollowsFromWhatIsSeen is the table of the decision. A want that
// begins with "look" is a Bucket of which AWS would be asked first.
func TestEachStepFollowsFromWhatIsSeen(t *testing.T) {
	a, b := selector("a", teamA), selector("b", teamB)
	offered := []*v1alpha1.IAMRoleSelector{selector("a", teamA, selectable), selector("b", teamB, recreating, preferred)}
	leaving := newBucket(held, recorded(teamA, "a", made), announced(teamB, 2*time.Hour))
	absent, bare, foreign := Sight{Presence: Absent}, Sight{Presence: Bare}, Sight{Presence: Foreign, Tags: map[string]string{"x": "y"}}
	for name, c := range map[string]struct {
		bucket    *Bucket
		selectors []*v1alpha1.IAMRoleSelector
		sight     Sight
		region    string
		retain    bool
		want      string
	}{
		"the finalizer comes before any call":           {bucket: newBucket(), selectors: []*v1alpha1.IAMRoleSelector{a}, want: "HoldFinalizer; KeepRecord; again"},
		"the role that will make it is recorded first":  {bucket: newBucket(held), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: absent, want: "look; Intend; again"},
		"then it is made and marked":                    {bucket: newBucket(held, recorded(teamA, "a", "")), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: absent, want: "look; CreateBucket PutTags; Confirm"},
		"one without tags that a crash left is marked":  {bucket: newBucket(held, recorded(teamA, "a", "")), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: bare, want: "look; PutTags; Confirm"},
		"one without tags that was there before is not": {bucket: newBucket(held), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: bare, want: "look; KeepRecord; BucketNotOurs"},
		"one that has lost its tags is nobody's":        {bucket: newBucket(held, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: bare, want: "look; KeepRecord; BucketNotOurs"},
		"somebody else's is left alone":                 {bucket: newBucket(held), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: foreign, want: "look; KeepRecord; BucketNotOurs"},
		"tags that differ are put right":                {bucket: newBucket(held, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: Sight{Presence: Ours, Tags: map[string]string{OwnerTag: "bucket-uid"}}, want: "look; PutTags; Confirm"},
		"one that is as it should be stays so":          {bucket: newBucket(held, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: tagged(newBucket()), want: "look; Confirm"},
		"one that somebody has deleted is made anew":    {bucket: newBucket(held, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: absent, want: "look; Intend; again"},
		"a conflict stops everything":                   {bucket: newBucket(held), selectors: []*v1alpha1.IAMRoleSelector{a, b}, want: "KeepRecord; Conflict"},
		"a conflict comes before the finalizer":         {bucket: newBucket(), selectors: []*v1alpha1.IAMRoleSelector{a, b}, want: "KeepRecord; Conflict"},
		"L1: another account is refused":                {bucket: newBucket(held, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{b}, want: "KeepRecord; AccountMismatch"},
		"L1: Recreate is announced first":               {bucket: newBucket(held, recorded(teamA, "a", made)), selectors: offered, want: "KeepRecord; AccountChangePending"},
		"L1: Recreate waits for a whole resync":         {bucket: newBucket(held, recorded(teamA, "a", made), announced(teamB, time.Minute)), selectors: offered, want: "KeepRecord; AccountChangePending"},
		"L1: then it goes from its account":             {bucket: leaving, selectors: offered, sight: tagged(newBucket()), want: "look; DeleteBucket; Forsake; again"},
		"L1: it may be gone from there already":         {bucket: leaving, selectors: offered, sight: absent, want: "look; Forsake; again"},
		"L1: what is not its own there is left alone":   {bucket: leaving, selectors: offered, sight: foreign, want: "look; KeepRecord; BucketNotOurs"},
		"L1: what was not made there is none":           {bucket: newBucket(held, recorded(teamA, "a", ""), announced(teamB, 2*time.Hour)), selectors: offered, sight: foreign, want: "look; Forsake; again"},
		"L1: a leftover there goes too":                 {bucket: newBucket(held, recorded(teamA, "a", ""), announced(teamB, 2*time.Hour)), selectors: offered, sight: bare, want: "look; DeleteBucket; Forsake; again"},
		"L1: also one of a selector that was made anew": {bucket: newBucket(held, recorded(teamA, "a", ""), announced(teamB, 2*time.Hour)),
			selectors: []*v1alpha1.IAMRoleSelector{selector("a", teamA, selectable, anew), offered[1]}, sight: bare, want: "look; DeleteBucket; Forsake; again"},
		"one without tags of a selector that was made anew is marked": {bucket: newBucket(held, recorded(teamA, "a", "")), selectors: []*v1alpha1.IAMRoleSelector{selector("a", teamA, anew)}, sight: bare, want: "look; PutTags; Confirm"},
		"a leftover of a selector that was made anew is deleted":      {bucket: newBucket(held, deleting, recorded(teamA, "a", "")), selectors: []*v1alpha1.IAMRoleSelector{selector("a", teamA, anew)}, sight: bare, want: "look; DeleteBucket ReleaseFinalizer; KeepRecord"},
		"L1: another account waits for its own turn":                  {bucket: newBucket(held, recorded(teamA, "a", made), announced(hub, 2*time.Hour)), selectors: offered, want: "KeepRecord; AccountChangePending"},
		"L1: not with the policy retain":                              {bucket: leaving, selectors: offered, retain: true, want: "KeepRecord; AccountMismatch"},
		"L1: not where its role is taken from it":                     {bucket: leaving, selectors: []*v1alpha1.IAMRoleSelector{selector("b", teamB, recreating)}, want: "KeepRecord; AccountMismatch"},
		"L1: deletion comes before any change":                        {bucket: newBucket(held, deleting, recorded(teamA, "a", made), announced(teamB, 2*time.Hour)), selectors: offered, sight: tagged(newBucket()), want: "look; DeleteBucket ReleaseFinalizer; KeepRecord"},
		"L2: no selector, and in another account":                     {bucket: newBucket(held, recorded(teamA, "a", made)), want: "KeepRecord; AccountMismatch"},
		"L2: no selector, and in the hub's account":                   {bucket: newBucket(held, recorded(hub, "", made)), sight: tagged(newBucket()), want: "look; Confirm"},
		"L3: it is deleted with the selector on record":               {bucket: newBucket(held, deleting, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: tagged(newBucket()), want: "look; DeleteBucket ReleaseFinalizer; KeepRecord"},
		"L3: also where it conflicts with another by now":             {bucket: newBucket(held, deleting, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a, b}, sight: tagged(newBucket()), want: "look; DeleteBucket ReleaseFinalizer; KeepRecord"},
		"L3: not with another":                                        {bucket: newBucket(held, deleting, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{selector("c", teamA)}, want: "KeepRecord; SelectorGone"},
		"L3: not with the controller's own":                           {bucket: newBucket(held, deleting, recorded(teamA, "a", made)), want: "KeepRecord; SelectorGone"},
		"L3: gone means gone with the role on record":                 {bucket: newBucket(held, deleting, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: absent, want: "look; ReleaseFinalizer; KeepRecord"},
		"L3: not found with another role is not gone":                 {bucket: newBucket(held, deleting, recorded(teamA, "", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: absent, want: "look; KeepRecord; NotFoundWithOtherRole"},
		"L4: another region is refused":                               {bucket: newBucket(held, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, region: "eu-west-2", want: "KeepRecord; RegionMismatch"},
		"retain deletes nothing, and asks nobody":                     {bucket: newBucket(held, deleting, recorded(teamA, "a", made)), retain: true, want: "ReleaseFinalizer; KeepRecord"},
		"what was never begun is let go":                              {bucket: newBucket(held, deleting), selectors: []*v1alpha1.IAMRoleSelector{a, b}, want: "ReleaseFinalizer; KeepRecord"},
		"a leftover is deleted":                                       {bucket: newBucket(held, deleting, recorded(teamA, "a", "")), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: bare, want: "look; DeleteBucket ReleaseFinalizer; KeepRecord"},
		"a name that somebody else took is let go":                    {bucket: newBucket(held, deleting, recorded(teamA, "a", "")), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: foreign, want: "look; ReleaseFinalizer; KeepRecord"},
		"somebody else's is not deleted":                              {bucket: newBucket(held, deleting, recorded(teamA, "a", made)), selectors: []*v1alpha1.IAMRoleSelector{a}, sight: foreign, want: "look; KeepRecord; BucketNotOurs"},
		"others' finalizers are not waited for":                       {bucket: newBucket(deleting), selectors: []*v1alpha1.IAMRoleSelector{a}, want: "KeepRecord"},
	} {
		t.Run(name, func(t *testing.T) {
			region := c.region
			if region == "" {
				region = home
			}
			o := observed(c.bucket, indexOf(c.selectors...), region, c.sight, c.retain)
			if got := say(o, Decide(o)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// say is a plan in a line.
func say(o Observed, plan Plan) string {
	var parts []string
	if o.NeedsLook() {
		parts = append(parts, "look")
	}
	var steps []string
	for _, step := range plan.Steps {
		steps = append(steps, string(step))
	}
	if len(steps) > 0 {
		parts = append(parts, strings.Join(steps, " "))
	}
	parts = append(parts, string(plan.Record))
	if plan.Again {
		parts = append(parts, "again")
	}
	if plan.Trouble != nil {
		parts = append(parts, plan.Trouble.Reason)
	}
	return strings.Join(parts, "; ")
}

// TestWhatSTSRefusesIsKnownByTheOperation: the codes are S3's, too.
func TestWhatSTSRefusesIsKnownByTheOperation(t *testing.T) {
	for name, c := range map[string]struct {
		fault     fault.Fault
		condition string
		reason    string
		wait      time.Duration
		passing   bool
	}{
		"a role that is refused":   {fault.Fault{Class: fault.Unauthorized, Service: "STS", Operation: "AssumeRole", Code: "AccessDenied"}, kube.ConditionRecoverable, "AssumeRoleFailed", refusedWait, false},
		"a web identity":           {fault.Fault{Class: fault.CredentialsRejected, Service: "STS", Operation: "AssumeRoleWithWebIdentity", Code: "InvalidIdentityToken"}, kube.ConditionRecoverable, "AssumeRoleFailed", refusedWait, false},
		"STS is gone":              {fault.Fault{Class: fault.Transient, Service: "STS", Operation: "AssumeRole"}, kube.ConditionRecoverable, "AssumeRoleFailed", refusedWait, false},
		"the role may not do it":   {fault.Fault{Class: fault.Unauthorized, Service: "S3", Operation: "CreateBucket", Code: "AccessDenied"}, kube.ConditionRecoverable, "Unauthorized", blockedWait, false},
		"S3 wants less":            {fault.Fault{Class: fault.Throttled, Service: "S3", Operation: "CreateBucket", Code: "SlowDown"}, kube.ConditionRecoverable, "Throttled", blockedWait, true},
		"the request cannot be so": {fault.Fault{Class: fault.Request, Service: "S3", Operation: "CreateBucket", Code: "InvalidBucketName"}, Terminal, "Request", blockedWait, false},
	} {
		t.Run(name, func(t *testing.T) {
			plan := AfterFault(&c.fault)
			want := Plan{Record: KeepRecord, Trouble: &Trouble{Condition: c.condition, Reason: c.reason, Message: c.fault.FirstLine(), Wait: c.wait, Passing: c.passing}}
			if diff := cmp.Diff(want, plan); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestARoleThatWasWithdrawnIsDecidedOnAnew: it is no trouble of the Bucket's, whatever
// step it stopped, and nothing is recorded or forgotten of it.
func TestARoleThatWasWithdrawnIsDecidedOnAnew(t *testing.T) {
	withdrawn := &fault.Fault{Class: fault.Transient, Code: fault.CodeRoleWithdrawn}
	want := Plan{Record: KeepRecord, Again: true}
	o := observed(newBucket(held), indexOf(selector("a", teamA)), home, Sight{Fault: withdrawn}, false)
	plans := []Plan{Decide(o)}
	for _, step := range []Step{CreateBucket, PutTags, DeleteBucket} {
		plans = append(plans, AfterFailure(o, step, withdrawn))
	}
	for i, plan := range plans {
		if diff := cmp.Diff(want, plan); diff != "" {
			t.Errorf("%d: -want +got\n%s", i, diff)
		}
	}
}

// TestTheStatusSaysWhatHolds: ACK's conditions, and the record.
func TestTheStatusSaysWhatHolds(t *testing.T) {
	a, b := selector("a", teamA), selector("b", teamB)
	denied := &fault.Fault{Class: fault.Unauthorized, Service: "STS", Operation: "AssumeRole", Code: "AccessDenied"}
	record := newBucket(recorded(teamA, "a", made)).Status.ACKResourceMetadata
	for name, c := range map[string]struct {
		observed Observed
		want     []string
		record   *ResourceMetadata
	}{
		"all is well": {
			observed: observed(newBucket(held, recorded(teamA, "a", "")), indexOf(a), home, tagged(newBucket()), false), record: record,
			want: []string{"ACK.IAMRoleSelected=True Selected", "ACK.ResourceSynced=True Synced", "Ready=True Synced"},
		},
		"a conflict keeps the record": {
			observed: observed(newBucket(held, recorded(teamA, "a", made)), indexOf(a, b), home, Sight{}, false), record: record,
			want: []string{"ACK.Recoverable=True IAMRoleSelectorConflict", "ACK.IAMRoleSelected=False Conflict", "ACK.ResourceSynced=Unknown IAMRoleSelectorConflict", "Ready=False ACK.Recoverable"},
		},
		"a refused role is not recorded": {
			observed: observed(newBucket(held), indexOf(a), home, Sight{Fault: denied}, false),
			want:     []string{"ACK.IAMRoleSelected=True Selected", "ACK.Recoverable=True AssumeRoleFailed", "ACK.ResourceSynced=Unknown AssumeRoleFailed", "Ready=False ACK.Recoverable"},
		},
		"somebody else's bucket is not recorded": {
			observed: observed(newBucket(held), indexOf(a), home, Sight{Presence: Foreign, Tags: map[string]string{"x": "y"}}, false),
			want:     []string{"ACK.IAMRoleSelected=True Selected", "ACK.Terminal=True BucketNotOurs", "ACK.ResourceSynced=Unknown BucketNotOurs", "Ready=False ACK.Terminal"},
		},
		"credentials that cannot be replaced are told in time": {
			observed: func() Observed {
				o := observed(newBucket(held, recorded(teamA, "a", made)), indexOf(a), home, tagged(newBucket()), false)
				o.Advice = denied
				return o
			}(), record: record,
			want: []string{"ACK.IAMRoleSelected=True Selected", "ACK.Advisory=True CredentialsNotRenewed", "ACK.ResourceSynced=True Synced", "Ready=True Synced"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Report(c.observed, Decide(c.observed))
			if diff := cmp.Diff(c.want, conditionsText(got.Conditions)); diff != "" {
				t.Errorf("conditions: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(c.record, got.ACKResourceMetadata); diff != "" {
				t.Errorf("record: -want +got\n%s", diff)
			}
		})
	}
}

// TestAConflictIsToldInACKsWords, with the names sorted.
func TestAConflictIsToldInACKsWords(t *testing.T) {
	o := observed(newBucket(held), indexOf(selector("b", teamB), selector("a", teamA)), home, Sight{}, false)
	want := "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [a, b]"
	if got := conditionOf(t, Report(o, Decide(o)), kube.ConditionRecoverable).Message; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNothingIsWrittenWhereNothingHasChanged: not even that a selector has other
// labels by now.
func TestNothingIsWrittenWhereNothingHasChanged(t *testing.T) {
	b := newBucket(held, recorded(teamA, "a", made))
	first := observed(b, indexOf(selector("a", teamA)), home, tagged(b), false)
	b.Status = Report(first, Decide(first))
	later := observed(b, indexOf(selector("a", teamA, func(s *v1alpha1.IAMRoleSelector) { s.ResourceVersion = "8" })), home, tagged(b), false)
	later.Now = now.Add(time.Hour)
	got := Report(later, Decide(later))
	if diff := cmp.Diff(b.Status, got); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
	if events := Events(b.Status, got); len(events) > 0 {
		t.Errorf("events %v, want none", events)
	}
	if events := Events(Status{}, b.Status); len(events) != 2 || events[0].Reason != string(roleselector.ReasonSelected) || events[1].Reason != "Synced" {
		t.Errorf("events of the first pass: %v, want Selected and Synced", events)
	}
}

// TestAConflictIsToldOnce, and not again because the Bucket is edited meanwhile.
func TestAConflictIsToldOnce(t *testing.T) {
	index := indexOf(selector("a", teamA), selector("b", teamB))
	b := newBucket(held)
	first := observed(b, index, home, Sight{}, false)
	b.Status = Report(first, Decide(first))
	if events := Events(Status{}, b.Status); len(events) != 1 || events[0].Reason != kube.ReasonIAMRoleSelectorConflict {
		t.Errorf("events of the conflict: %v, want one", events)
	}
	b.Generation++
	second := observed(b, index, home, Sight{}, false)
	after := Report(second, Decide(second))
	if events := Events(b.Status, after); len(events) > 0 {
		t.Errorf("events of an edit: %v, want none", events)
	}
}

// TestAChangeOfAccountIsTold when the bucket is gone from the old one, and not before.
func TestAChangeOfAccountIsTold(t *testing.T) {
	index := indexOf(selector("a", teamA, selectable), selector("b", teamB, recreating, preferred))
	b := newBucket(held, recorded(teamA, "a", made), announced(teamB, 2*time.Hour))
	told := func(after Status) (found bool) {
		for _, event := range Events(b.Status, after) {
			found = found || event.Reason == "AccountLeft" && strings.Contains(event.Message, made+" is gone from the account "+teamA)
		}
		return found
	}
	o := observed(b, index, home, tagged(b), false)
	after := Report(o, Decide(o))
	if after.ACKResourceMetadata != nil || !told(after) {
		t.Errorf("the record is %v, want none, and the events %v, want AccountLeft", after.ACKResourceMetadata, Events(b.Status, after))
	}

	full := &fault.Fault{Class: fault.Request, Service: "S3", Operation: "DeleteBucket", Code: "BucketNotEmpty"}
	after = Report(o, AfterFailure(o, DeleteBucket, full))
	if diff := cmp.Diff(b.Status.ACKResourceMetadata, after.ACKResourceMetadata); diff != "" || told(after) {
		t.Errorf("nothing is gone, and the record has changed (-before +after):\n%s\nand the events are %v", diff, Events(b.Status, after))
	}
	want := []string{
		"AccountChangePending=True AccountChangePending", "ACK.IAMRoleSelected=True Selected", "ACK.Terminal=True BucketNotEmpty",
		"ACK.ResourceSynced=Unknown BucketNotEmpty", "Ready=False ACK.Terminal",
	}
	if diff := cmp.Diff(want, conditionsText(after.Conditions)); diff != "" {
		t.Errorf("conditions of a bucket that is not empty: -want +got\n%s", diff)
	}
	if pending := conditionOf(t, after, kube.ConditionAccountChangePending); now.Sub(pending.LastTransitionTime.Time) != 2*time.Hour {
		t.Errorf("the change is announced since %s, want it to stay due", pending.LastTransitionTime)
	}
}

// TestARoleThatMayNotMakeTheBucketTiesItToNothing: another selector may have another
// account. That is so only where AWS has said no, and nothing has been made.
func TestARoleThatMayNotMakeTheBucketTiesItToNothing(t *testing.T) {
	index := indexOf(selector("a", teamA))
	denied := &fault.Fault{Class: fault.Unauthorized, Service: "S3", Operation: "CreateBucket", Code: "AccessDenied"}
	lost := &fault.Fault{Class: fault.Transient, Service: "S3", Operation: "CreateBucket"}
	for name, c := range map[string]struct {
		arn   string
		step  Step
		fault *fault.Fault
		want  Record
	}{
		"refused":                     {"", CreateBucket, denied, Forsake},
		"no answer: it may be there":  {"", CreateBucket, lost, KeepRecord},
		"made, and its tags refused":  {"", PutTags, denied, KeepRecord},
		"known from an earlier look":  {made, CreateBucket, denied, KeepRecord},
		"there, and its tags refused": {made, PutTags, denied, KeepRecord},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(newBucket(held, recorded(teamA, "a", c.arn)), index, home, Sight{Presence: Absent}, false)
			plan := AfterFailure(o, c.step, c.fault)
			if plan.Record != c.want {
				t.Errorf("the record: %s, want %s", plan.Record, c.want)
			}
			if got := Report(o, plan).ACKResourceMetadata; (got == nil) != (c.want == Forsake) {
				t.Errorf("the status says %+v", got)
			}
		})
	}
}
