package installing

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

func TestGate(t *testing.T) {
	for name, c := range map[string]struct {
		verdict  operator.Verdict
		digest   string
		accepted []string
		want     operator.Verdict
		code     Code
	}{
		"enough":                          {operator.VerdictSatisfied, "sha256:a", nil, operator.VerdictSatisfied, ""},
		"enough, and needlessly accepted": {operator.VerdictNoChange, "sha256:a", []string{"unknown", "missing=sha256:a"}, operator.VerdictNoChange, ""},
		"missing":                         {operator.VerdictMissing, "sha256:a", nil, operator.VerdictMissing, RoleNotEnough},
		"missing, accepted":               {operator.VerdictMissing, "sha256:a", []string{"missing=sha256:b", "missing=sha256:a"}, operator.VerdictOverridden, ""},
		"missing, something else":         {operator.VerdictMissing, "sha256:a", []string{"missing=sha256:b", "unknown"}, operator.VerdictMissing, RoleNotEnough},
		"missing of no digest":            {operator.VerdictMissing, "", []string{"missing="}, operator.VerdictMissing, RoleNotEnough},
		"unknown":                         {operator.VerdictUnknown, "", nil, operator.VerdictUnknown, RoleUnknown},
		"unknown, accepted":               {operator.VerdictUnknown, "", []string{"unknown"}, operator.VerdictOverridden, ""},
		"unknown, accepted as missing":    {operator.VerdictUnknown, "sha256:a", []string{"missing=sha256:a"}, operator.VerdictUnknown, RoleUnknown},
		"no verdict":                      {"", "", []string{"unknown", "missing="}, "", RoleNotEnough},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Gate(c.verdict, c.digest, c.accepted)
			isRefused(t, err, c.code, "enough")
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestThePlanThatIsMeant(t *testing.T) {
	waits := operator.Plan{Name: "waits", Phase: "RequiresApproval", CSVs: []string{"p.v2"}}
	done := operator.Plan{Name: "done", Phase: "Complete", Approved: true}
	failed := operator.Plan{Name: "failed", Phase: "Failed"}
	for name, c := range map[string]struct {
		named, want string
		code        Code
		other       string
	}{
		"a plan":               {named: "waits", want: "waits"},
		"a Subscription":       {named: "p", want: "waits"},
		"one that is approved": {named: "done", other: "the InstallPlan \"done\" is approved already"},
		"one that failed":      {named: "failed", other: "the InstallPlan \"failed\" does not wait for an approval: its phase is Failed"},
		"nothing waits":        {named: "q", code: NothingWaits},
		"nobody has the name":  {named: "r", code: NoSubscription},
	} {
		t.Run(name, func(t *testing.T) {
			objects := &operator.Objects{
				Wanted: operator.Wanted{Namespace: "ns"}, Plans: []operator.Plan{done, failed, waits},
				Subscriptions: []operator.Subscription{{Name: "p", CurrentCSV: "p.v2", InstalledCSV: "p.v1", Plan: "waits"}, {Name: "q", CurrentCSV: "q.v1", InstalledCSV: "q.v1"}},
			}
			got, err := waiting(objects, c.named)
			if c.other != "" {
				if err == nil || err.Error() != c.other {
					t.Error(err)
				}
				return
			}
			isRefused(t, err, c.code, c.named)
			if got.Name != c.want {
				t.Errorf("%q, want %q", got.Name, c.want)
			}
		})
	}
}

// seen is a plan as it was judged, with what changed since.
func seen(change func(*Waiting)) Waiting {
	out := Waiting{
		Plan:          operator.Plan{Name: "install-a", UID: "1", CSVs: []string{"p.v2"}},
		Subscriptions: []operator.Subscription{{Name: "p", CurrentCSV: "p.v2", Env: map[string]string{"ROLEARN": "a", "OTHER": "x"}}, {Name: "q", CurrentCSV: "q.v1", Env: map[string]string{"ROLEARN": "b"}}},
		Judged:        []operator.Judgement{{Verdict: operator.VerdictSatisfied, Digest: "sha256:a"}},
	}
	change(&out)
	return out
}

// TestOnlyAPlanThatIsTheSameIsApprovedAfterAChange: what was written to a plan in between may be what it
// installs, and a Subscription may have got another role.
func TestOnlyAPlanThatIsTheSameIsApprovedAfterAChange(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(*Waiting)
		isAs, unchanged bool
	}{
		"nothing":                {func(*Waiting) {}, true, true},
		"noted":                  {func(w *Waiting) { w.Plan.ResourceVersion, w.Plan.Checked = "2", "Satisfied" }, true, true},
		"another plan":           {func(w *Waiting) { w.Plan.UID = "2" }, false, true},
		"another verdict":        {func(w *Waiting) { w.Judged[0].Verdict = operator.VerdictMissing }, false, true},
		"asks for something":     {func(w *Waiting) { w.Judged[0].Digest = "sha256:b" }, false, true},
		"another version":        {func(w *Waiting) { w.Plan.CSVs = []string{"p.v3"} }, false, true},
		"one judgement fewer":    {func(w *Waiting) { w.Judged = nil }, false, true},
		"installs more":          {func(w *Waiting) { w.Plan.CSVs = []string{"p.v2", "q.v2"} }, false, true},
		"another role":           {func(w *Waiting) { w.Subscriptions[0].Env["ROLEARN"] = "c" }, true, false},
		"no role":                {func(w *Waiting) { w.Subscriptions[0].Env = nil }, true, false},
		"another variable":       {func(w *Waiting) { w.Subscriptions[0].Env["OTHER"] = "y" }, true, true},
		"another operator's":     {func(w *Waiting) { w.Subscriptions[1].Env["ROLEARN"] = "c" }, true, true},
		"the Subscription is so": {func(w *Waiting) { w.Subscriptions = w.Subscriptions[1:] }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			was, now := seen(func(*Waiting) {}), seen(c.change)
			if was.IsAs(now) != c.isAs || was.Unchanged(now.Subscriptions) != c.unchanged {
				t.Errorf("the same %t, unchanged %t", was.IsAs(now), was.Unchanged(now.Subscriptions))
			}
		})
	}
}

func TestWhereTheDocumentsOfARoleComeFrom(t *testing.T) {
	const arn = "arn:aws:iam::123456789012:role/p"
	broken := errors.New("broken")
	read := func(err error) func(context.Context, string) (sufficiency.Documents, error) {
		return func(_ context.Context, arn string) (sufficiency.Documents, error) {
			return sufficiency.Documents{ARN: arn}, err
		}
	}
	given := func(err error) func(string) (sufficiency.Documents, error) {
		return func(string) (sufficiency.Documents, error) { return sufficiency.Documents{ARN: "given"}, err }
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx          context.Context
		planner      Planner
		arn          string
		want, unread string
		err          error
	}{
		"AWS":                   {t.Context(), Planner{RoleDocuments: read(nil)}, arn, arn, "", nil},
		"AWS refuses":           {t.Context(), Planner{RoleDocuments: read(broken)}, arn, "", "broken", nil},
		"nobody waits for AWS":  {over, Planner{RoleDocuments: read(broken)}, arn, "", "", context.Canceled},
		"a person":              {t.Context(), Planner{RoleDocuments: read(broken), Given: given(nil)}, arn, "given", "", nil},
		"a person, broken":      {t.Context(), Planner{RoleDocuments: read(nil), Given: given(broken)}, arn, "", "", broken},
		"nowhere: it is no ARN": {t.Context(), Planner{}, "somebody", "", "it is no role in AWS", nil},
	} {
		t.Run(name, func(t *testing.T) {
			documents, unread, err := c.planner.role(c.ctx, c.arn)
			if !errors.Is(err, c.err) || unread != c.unread {
				t.Errorf("%q, %v", unread, err)
			}
			if err == nil && (documents == nil) != (c.want == "") || err == nil && documents != nil && documents.ARN != c.want {
				t.Errorf("%v, want %q", documents, c.want)
			}
		})
	}
}

func TestWhichVariablesARoleChanges(t *testing.T) {
	for name, c := range map[string]struct {
		had, values map[string]string
		want        []Edit
	}{
		"another role":  {map[string]string{"ROLEARN": "a", "OTHER": "x"}, map[string]string{"ROLEARN": "b"}, []Edit{{"ROLEARN", "a", "b"}}},
		"the same":      {map[string]string{"ROLEARN": "a"}, map[string]string{"ROLEARN": "a"}, nil},
		"the first":     {nil, map[string]string{"ROLEARN": "b"}, []Edit{{"ROLEARN", "", "b"}}},
		"of each cloud": {map[string]string{"ROLEARN": "a"}, map[string]string{"CLIENTID": "c"}, []Edit{{"CLIENTID", "", "c"}, {"ROLEARN", "a", ""}}},
		"its region":    {map[string]string{"CLIENTID": "c", "REGION": "r"}, map[string]string{"CLIENTID": "c"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := OtherRole{Subscription: operator.Subscription{Env: c.had}, Values: c.values}.Edits()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An install approves the plan for the Subscription that it planned, and for no other of that name:
// somebody may have deleted it and made one with another role.
func TestOnlyThePlannedSubscriptionIsApproved(t *testing.T) {
	p := Planned{Install: operator.Install{Wanted: operator.Wanted{
		Subscription: "p", Package: "p", Source: "vendor", SourceNamespace: "olm", Channel: "stable", Values: map[string]string{"ROLEARN": "a"},
	}}}
	for name, c := range map[string]struct {
		change func(*operator.Subscription)
		want   bool
	}{
		"as it was planned":   {func(*operator.Subscription) {}, true},
		"another variable":    {func(s *operator.Subscription) { s.Env["OTHER"] = "x" }, true},
		"another role":        {func(s *operator.Subscription) { s.Env["ROLEARN"] = "b" }, false},
		"no role":             {func(s *operator.Subscription) { s.Env = nil }, false},
		"a role beside":       {func(s *operator.Subscription) { s.Env["CLIENTID"] = "b" }, false},
		"from other objects":  {func(s *operator.Subscription) { s.References = true }, false},
		"another package":     {func(s *operator.Subscription) { s.Package = "q" }, false},
		"another source":      {func(s *operator.Subscription) { s.Source = "evil" }, false},
		"of another place":    {func(s *operator.Subscription) { s.SourceNamespace = "evil" }, false},
		"another channel":     {func(s *operator.Subscription) { s.Channel = "fast" }, false},
		"another name":        {func(s *operator.Subscription) { s.Name = "q" }, false},
		"an empty value more": {func(s *operator.Subscription) { s.Env["CLIENTID"] = "" }, true},
	} {
		own := operator.Subscription{Name: "p", Package: "p", Source: "vendor", SourceNamespace: "olm", Channel: "stable", Env: map[string]string{"ROLEARN": "a"}}
		c.change(&own)
		if got := p.isPlanned([]operator.Subscription{{Name: "other"}, own}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A digest is of what a person saw: the neighbours, and what of a role is missing.
func TestADigestIsOfWhatWasSeen(t *testing.T) {
	plan := func(change func(*Planned)) string {
		p := Planned{
			Install: operator.Install{Wanted: operator.Wanted{Subscription: "p"}}, Objects: &operator.Objects{Subscriptions: []operator.Subscription{{Name: "p"}, {Name: "q"}}},
			Judged: operator.Judgement{CSV: "p.v1", Verdict: operator.VerdictMissing, Digest: "sha256:a", Report: &sufficiency.Report{
				Trust:       []sufficiency.Trust{{Subject: "s", Audience: "a", Result: sufficiency.Trusted}},
				Permissions: []sufficiency.Permission{{Result: sufficiency.Granted}, {Result: sufficiency.Lacking}},
			}},
		}
		change(&p)
		digest, err := p.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	was := plan(func(*Planned) {})
	if was != plan(func(p *Planned) { p.Judged.Report.Permissions[1].Why, p.Judged.Why = "request 1", "x" }) {
		t.Error("why something is missing changes the digest")
	}
	for name, change := range map[string]func(*Planned){
		"a neighbour more": func(p *Planned) {
			p.Objects.Subscriptions = append(p.Objects.Subscriptions, operator.Subscription{Name: "r"})
		},
		"less is granted":  func(p *Planned) { p.Judged.Report.Permissions[0].Result = sufficiency.Lacking },
		"trust is lost":    func(p *Planned) { p.Judged.Report.Trust[0].Result = sufficiency.NotTrusted },
		"another verdict":  func(p *Planned) { p.Judged.Verdict = operator.VerdictUnknown },
		"another approval": func(p *Planned) { p.Install.Approval = operator.Automatic },
	} {
		if was == plan(change) {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}
