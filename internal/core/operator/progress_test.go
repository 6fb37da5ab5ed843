package operator_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

const (
	first  = "p.v1.0.0"
	second = "p.v1.1.0"
	arn    = "arn:aws:iam::111122223333:role/p"
)

// installed is a cluster on which all ten stages are done.
func installed() *operator.Objects {
	return &operator.Objects{
		Wanted: operator.Wanted{
			Subscription: "p", Namespace: "ns", Package: "p", Channel: "stable", Source: "vendor", SourceNamespace: "olm", CSV: first,
			Values: map[string]string{"ROLEARN": arn}, Identity: arn,
		},
		Catalogue: &operator.Catalogue{State: "READY"}, NamespaceExists: true,
		Groups:        []operator.Group{{Name: "g", Namespaces: []string{"ns"}}},
		InstallModes:  []string{"OwnNamespace"},
		Subscriptions: []operator.Subscription{{Name: "p", Package: "p", Channel: "stable", Source: "vendor", SourceNamespace: "olm", CurrentCSV: first, InstalledCSV: first, Plan: "install-a"}},
		Plans:         []operator.Plan{{Name: "install-a", Phase: "Complete", Approved: true, CSVs: []string{first}, Generation: 1}},
		CSV:           &operator.ClusterServiceVersion{Name: first, Phase: "Succeeded", Reason: "InstallSucceeded", Since: now.Add(-time.Minute)},
		Deployments:   []operator.Deployment{{Name: "p", Env: map[string]map[string]string{"operator": {"ROLEARN": arn, "OTHER": "x"}}}},
		Requests:      []operator.Request{{Namespace: "ns", Name: "p", Identity: arn, Secret: "ns/p-aws", SecretExists: true, Provisioned: true}},
	}
}

func bad(kind, reason, message string) []operator.Condition {
	return []operator.Condition{{Type: kind, Status: "True", Reason: reason, Message: message, Since: now.Add(-time.Hour)}}
}

// waitsForApproval makes the install wait for it.
func waitsForApproval(o *operator.Objects) {
	o.CSV, o.Plans[0].Approved, o.Plans[0].Phase = nil, false, "RequiresApproval"
}

// early makes the change to an install of which OLM has not made an InstallPlan yet.
func early(change func(*operator.Objects)) func(*operator.Objects) {
	return func(o *operator.Objects) {
		o.CSV, o.Plans, o.Subscriptions[0].InstalledCSV = nil, nil, ""
		change(o)
	}
}

func TestProgress(t *testing.T) {
	own := func(o *operator.Objects) *operator.Subscription { return &o.Subscriptions[0] }
	for name, c := range map[string]struct {
		change func(*operator.Objects)
		n      int
		state  operator.State
		says   string
	}{
		"all is done":    {func(*operator.Objects) {}, 10, operator.Done, "ns/p-aws"},
		"without a role": {func(o *operator.Objects) { o.Values, o.Deployments, o.Requests = nil, nil, nil }, 7, operator.Done, "available"},

		"no catalogue":           {early(func(o *operator.Objects) { o.Catalogue = nil }), 1, operator.Failed, "no CatalogSource olm/vendor"},
		"a catalogue that fails": {early(func(o *operator.Objects) { o.Catalogue.State = "TRANSIENT_FAILURE" }), 1, operator.Waiting, "TRANSIENT_FAILURE"},
		"a new catalogue":        {early(func(o *operator.Objects) { o.Catalogue.State = "" }), 1, operator.Waiting, "without a connection yet"},
		"may not be read": {func(o *operator.Objects) {
			o.Unread = map[operator.Kind]error{operator.KindCatalogue: errors.New("forbidden")}
		}, 1, operator.Unknown, "forbidden"},

		"no namespace":       {func(o *operator.Objects) { o.NamespaceExists = false }, 2, operator.Failed, "no namespace ns"},
		"no group":           {func(o *operator.Objects) { o.Groups = nil }, 2, operator.Failed, "no OperatorGroup"},
		"two groups":         {func(o *operator.Objects) { o.Groups = append(o.Groups, operator.Group{Name: "b"}) }, 2, operator.Failed, "2 OperatorGroups (b, g)"},
		"a group for all":    {func(o *operator.Objects) { o.Groups[0].Namespaces = []string{""} }, 2, operator.Failed, "AllNamespaces"},
		"a group of another": {func(o *operator.Objects) { o.Groups[0].Namespaces = []string{"x"} }, 2, operator.Failed, "SingleNamespace"},
		"a group of several": {func(o *operator.Objects) { o.Groups[0].Namespaces = []string{"x", "y"} }, 2, operator.Failed, "MultiNamespace"},
		"modes not known":    {func(o *operator.Objects) { o.InstallModes, o.Groups[0].Namespaces = nil, []string{""} }, 10, operator.Done, ""},
		"a new group":        {func(o *operator.Objects) { o.Groups[0].Namespaces = nil }, 2, operator.Waiting, "has not said"},
		"a group whose account is gone": {func(o *operator.Objects) {
			o.Groups[0].Conditions = bad("OperatorGroupServiceAccount", "ServiceAccountNotFound", "x is gone")
		}, 2, operator.Failed, "x is gone"},

		"no Subscription": {func(o *operator.Objects) { o.Subscriptions = nil }, 3, operator.Failed, "no Subscription p"},
		"another one for it": {func(o *operator.Objects) {
			o.Subscriptions = append(o.Subscriptions, operator.Subscription{Name: "q", Package: "p"})
		}, 3, operator.Failed, "Subscription q"},
		"one of another source": {func(o *operator.Objects) { own(o).Source = "x" }, 3, operator.Failed, `spec.source of the Subscription is "x", expected "vendor"`},
		"another channel":       {func(o *operator.Objects) { own(o).Channel = "fast" }, 3, operator.Failed, "spec.channel"},
		"any channel":           {func(o *operator.Objects) { o.Channel, own(o).Channel = "", "fast" }, 10, operator.Done, ""},

		"unsatisfiable": {early(func(o *operator.Objects) {
			own(o).Conditions = bad("ResolutionFailed", "ConstraintsNotSatisfiable", "no such version")
		}), 4, operator.Failed, "no such version"},
		"a catalogue died": {early(func(o *operator.Objects) {
			own(o).Conditions = bad("ResolutionFailed", "ErrorPreventedResolution", "olm/dead")
		}), 4, operator.Waiting, "olm/dead"},
		"nothing chosen": {early(func(o *operator.Objects) { own(o).CurrentCSV = "" }), 4, operator.Waiting, "not chosen"},
		"unhealthy": {early(func(o *operator.Objects) {
			own(o).CurrentCSV, own(o).Conditions = "", bad("CatalogSourcesUnhealthy", "x", "olm/dead")
		}), 4, operator.Waiting, "not healthy"},
		"a condition that is over": {func(o *operator.Objects) {
			own(o).Conditions = []operator.Condition{{Type: "ResolutionFailed", Status: "False", Reason: "ConstraintsNotSatisfiable"}}
		}, 10, operator.Done, ""},

		"unpacking, and no version named": {early(func(o *operator.Objects) {
			own(o).CurrentCSV, o.Wanted.CSV, own(o).Conditions = "", "", bad("BundleUnpacking", "UnpackingInProgress", "ErrImagePull")
		}), 5, operator.Waiting, "ErrImagePull"},
		"unpacking": {early(func(o *operator.Objects) {
			own(o).Conditions = bad("BundleUnpacking", "UnpackingInProgress", "ErrImagePull")
		}), 5, operator.Waiting, "ErrImagePull"},
		"unpack failed": {early(func(o *operator.Objects) {
			own(o).Conditions = bad("BundleUnpackFailed", "DeadlineExceeded", "too slow")
		}), 5, operator.Failed, "too slow"},
		"no plan yet": {early(func(o *operator.Objects) { own(o).Plan, own(o).InstalledCSV, o.CSV = "", "", nil }), 5, operator.Waiting, "no InstallPlan yet"},

		"a catalogue dies after the plan": {func(o *operator.Objects) { o.Catalogue.State = "TRANSIENT_FAILURE" }, 10, operator.Done, ""},
		"a catalogue goes after the plan": {func(o *operator.Objects) { o.Catalogue, o.CSV = nil, nil }, 7, operator.Waiting, "not there yet"},
		"a version is being replaced": {func(o *operator.Objects) {
			own(o).Conditions = append(bad("ResolutionFailed", "ConstraintsNotSatisfiable", "not referenced by a subscription"), bad("BundleUnpacking", "x", "of the next")...)
		}, 10, operator.Done, ""},

		"an approval is needed": {waitsForApproval, 6, operator.YourTurn, "install-a waits for an approval"},
		"a plan for several": {func(o *operator.Objects) {
			waitsForApproval(o)
			o.Plans[0].CSVs = []string{first, "q.v2"}
		}, 6, operator.YourTurn, "all of p.v1.0.0, q.v2"},
		"a plan for the next version": {func(o *operator.Objects) {
			o.Plans = []operator.Plan{{Name: "install-b", Phase: "RequiresApproval", CSVs: []string{second}, Generation: 2}}
		}, 10, operator.Done, ""},
		"only a plan for the next": {func(o *operator.Objects) {
			o.CSV, o.Plans = nil, []operator.Plan{{Name: "install-b", Phase: "RequiresApproval", CSVs: []string{second}}}
		}, 6, operator.Waiting, "no InstallPlan is for p.v1.0.0"},
		"planning": {func(o *operator.Objects) {
			waitsForApproval(o)
			o.Plans[0].Phase = "Planning"
		}, 6, operator.Waiting, "planning"},

		"a plan that failed": {func(o *operator.Objects) {
			o.Plans[0].Phase, o.Plans[0].Conditions = "Failed", []operator.Condition{{Type: "Installed", Status: "False", Message: "UnsupportedResource"}}
		}, 7, operator.Failed, "UnsupportedResource"},
		"an old plan failed": {func(o *operator.Objects) {
			o.Plans = append(o.Plans, operator.Plan{Name: "old", Phase: "Failed", CSVs: []string{first}})
		}, 10, operator.Done, ""},
		"no CSV":     {func(o *operator.Objects) { o.CSV = nil }, 7, operator.Waiting, "not there yet"},
		"an old CSV": {func(o *operator.Objects) { o.CSV.Name = "p.v0.9.0" }, 7, operator.Waiting, "not there yet"},
		"unmet": {func(o *operator.Objects) {
			o.CSV.Phase, o.CSV.Unmet = "Pending", []string{"CustomResourceDefinition x"}
		}, 7, operator.Waiting, "CustomResourceDefinition x"},
		"check": {func(o *operator.Objects) { o.CSV.Phase, o.CSV.Reason = "Failed", "InstallCheckFailed" }, 7, operator.Waiting, "InstallCheckFailed"},
		"no retry": {func(o *operator.Objects) {
			o.CSV.Phase, o.CSV.Reason, o.CSV.Message = "Failed", "InvalidInstallModes", "why"
		}, 7, operator.Failed, "why"},
		"not upgradeable":         {func(o *operator.Objects) { o.CSV.Phase, o.CSV.Reason = "Pending", "OperatorConditionNotUpgradeable" }, 7, operator.Waiting, "OperatorCondition"},
		"a reason of a later OLM": {func(o *operator.Objects) { o.CSV.Phase, o.CSV.Reason = "Installing", "Whatever" }, 7, operator.Waiting, "Whatever"},
		"a new CSV":               {func(o *operator.Objects) { o.CSV.Phase, o.CSV.Reason = "", "" }, 7, operator.Waiting, "not looked at yet"},

		"no Deployment":       {func(o *operator.Objects) { o.Deployments = nil }, 8, operator.Waiting, "no Deployment"},
		"an old value":        {func(o *operator.Objects) { o.Deployments[0].Env["operator"]["ROLEARN"] = "x" }, 8, operator.Waiting, "container operator"},
		"one container lacks": {func(o *operator.Objects) { o.Deployments[0].Env["side"] = nil }, 8, operator.Waiting, "container side"},

		"no request":          {func(o *operator.Objects) { o.Requests = nil }, 9, operator.Waiting, "has not made"},
		"no request at all":   {func(o *operator.Objects) { o.Requests, o.CSV.Since = nil, now.Add(-3*time.Minute) }, 9, operator.Waiting, "may need a custom resource"},
		"it ignores the role": {func(o *operator.Objects) { o.Requests[0].Identity = "" }, 9, operator.Waiting, "not the role that was given"},

		"refused": {func(o *operator.Objects) {
			o.Requests[0].Conditions = bad("CredentialsProvisionFailure", "x", "no boundary")
		}, 10, operator.Failed, "no boundary"},
		"not fulfilled": {func(o *operator.Objects) { o.Requests[0].Provisioned = false }, 10, operator.Waiting, "not fulfilled yet"},
		"no Secret":     {func(o *operator.Objects) { o.Requests[0].SecretExists = false }, 10, operator.Waiting, "Secret ns/p-aws"},
	} {
		t.Run(name, func(t *testing.T) {
			o := installed()
			c.change(o)
			got := operator.Progress(o, now)
			last := got[len(got)-1]
			if last.N != c.n || last.State != c.state || len(got) != c.n {
				t.Fatalf("stage %d of %d is %s, want %d %s: %s", last.N, len(got), last.State, c.n, c.state, last.Sentence)
			}
			if !strings.Contains(last.Sentence, c.says) {
				t.Errorf("%q is not in %q", c.says, last.Sentence)
			}
			if operator.IsInstalled(o, got) != (c.state == operator.Done) {
				t.Error("IsInstalled says otherwise")
			}
			check(t, got)
		})
	}
}

// check demands what holds of all progress: only the last stage may not be done, and who is needed
// is told what to do.
func check(t *testing.T, all []operator.Stage) {
	t.Helper()
	for i, s := range all {
		needed := s.State == operator.YourTurn || s.State == operator.Failed || s.State == operator.Unknown
		if s.N != i+1 || s.Name == "" || s.Sentence == "" || s.Object == "" || needed && s.Next == "" || s.State != operator.Done && i < len(all)-1 {
			t.Errorf("%+v", s)
		}
	}
}

// TestAnInstallIsFollowed is one install from nothing to its end: no stage goes back.
func TestAnInstallIsFollowed(t *testing.T) {
	end := installed()
	o := &operator.Objects{Wanted: end.Wanted, InstallModes: end.InstallModes}
	reached := 0
	for _, step := range []struct {
		change func()
		n      int
	}{
		{func() { o.Catalogue = &operator.Catalogue{State: "CONNECTING"} }, 1},
		{func() { o.Catalogue.State = "READY" }, 2},
		{func() { o.NamespaceExists, o.Groups = true, end.Groups }, 3},
		{func() {
			s := end.Subscriptions[0]
			s.CurrentCSV, s.InstalledCSV, s.Plan = "", "", ""
			o.Subscriptions = []operator.Subscription{s}
		}, 4},
		{func() {
			o.Subscriptions[0].CurrentCSV = first
			o.Subscriptions[0].Conditions = bad("BundleUnpacking", "UnpackingInProgress", "")
		}, 5},
		{func() {
			o.Subscriptions[0].Conditions, o.Subscriptions[0].Plan = nil, "install-a"
			o.Plans = []operator.Plan{{Name: "install-a", Phase: "RequiresApproval", CSVs: []string{first}}}
		}, 6},
		{func() { o.Plans[0].Approved, o.Plans[0].Phase = true, "Installing" }, 7},
		{func() {
			o.CSV = &operator.ClusterServiceVersion{Name: first, Phase: "Installing", Reason: "InstallWaiting"}
		}, 7},
		{func() { o.CSV = end.CSV }, 8},
		{func() { o.Deployments = end.Deployments }, 9},
		{func() {
			o.Requests = []operator.Request{{Namespace: "ns", Name: "p", Identity: arn, Secret: "ns/p-aws"}}
		}, 10},
		{func() { o.Requests = end.Requests }, 10},
	} {
		step.change()
		got := operator.Progress(o, now)
		check(t, got)
		if len(got) != step.n || len(got) < reached {
			t.Errorf("it is at stage %d after %d, want %d: %+v", len(got), reached, step.n, got[len(got)-1])
		}
		reached = len(got)
	}
	if !operator.IsInstalled(o, operator.Progress(o, now)) {
		t.Error("it does not end")
	}
}

// TestAnOperatorThatCrashesLeadsToItsPods in each phase of the circle in which OLM tries again.
func TestAnOperatorThatCrashesLeadsToItsPods(t *testing.T) {
	for _, at := range [][2]string{{"Failed", "InstallCheckFailed"}, {"Pending", "NeedsReinstall"}, {"InstallReady", "AllRequirementsMet"}, {"Installing", "InstallWaiting"}} {
		o := installed()
		o.CSV.Phase, o.CSV.Reason = at[0], at[1]
		got := operator.Progress(o, now)
		if last := got[len(got)-1]; len(got) != 7 || !strings.Contains(last.Next, "kubectl -n ns get pods") {
			t.Errorf("%v: %+v", at, last)
		}
	}
}

// FuzzProgress: whatever is read, there is an answer, and who is needed is told what to do.
func FuzzProgress(f *testing.F) {
	f.Add("READY", "Succeeded", "InstallSucceeded", "ResolutionFailed", "x", uint16(0))
	f.Add("", "", "", "BundleUnpacking", "", uint16(0xffff))
	f.Add("IDLE", "Failed", "OwnerConflict", "BundleUnpackFailed", "y", uint16(0x1234))
	f.Fuzz(func(t *testing.T, catalogue, phase, reason, condition, value string, gone uint16) {
		o := installed()
		o.Catalogue.State, o.CSV.Phase, o.CSV.Reason = catalogue, phase, reason
		o.Subscriptions[0].Conditions = bad(condition, reason, value)
		o.Requests[0].Identity, o.Deployments[0].Env["operator"]["ROLEARN"] = value, value
		for i, drop := range []func(){
			func() { o.Catalogue = nil }, func() { o.NamespaceExists = false }, func() { o.Groups = nil }, func() { o.Subscriptions = nil },
			func() { o.Plans = nil }, func() { o.CSV = nil }, func() { o.Deployments = nil }, func() { o.Requests = nil }, func() { o.Values = nil },
			func() { o.Plans = append(o.Plans, operator.Plan{CSVs: []string{value}}) }, func() { o.Wanted.CSV = value }, func() { o.Groups = append(o.Groups, o.Groups...) },
			func() { o.Unread = map[operator.Kind]error{operator.Kind(value): errors.New(value)} },
		} {
			if gone&(1<<i) != 0 {
				drop()
			}
		}
		got := operator.Progress(o, now)
		if len(got) == 0 {
			t.Fatal("there is no answer")
		}
		check(t, got)
	})
}

func TestAnUpgradeThatWaits(t *testing.T) {
	o := installed()
	if next := o.Next(); next != "" || o.Waiting() != nil {
		t.Errorf("%q waits", next)
	}
	o.Subscriptions[0].CurrentCSV = second
	for phase, want := range map[string]string{"": "", "Planning": "", "RequiresApproval": second} {
		o.Plans = append(installed().Plans, operator.Plan{Name: "install-b", CSVs: []string{second}, Phase: phase, Generation: 2})
		if next := o.Next(); next != want {
			t.Errorf("%q: %q waits, want %q", phase, next, want)
		}
	}
	o.Plans[1].Approved = true
	if next := o.Next(); next != "" {
		t.Errorf("%q is approved already", next)
	}
}
