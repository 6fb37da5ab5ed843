package overview_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/overview"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	url  = "https://prod-oidc.s3.eu-central-1.amazonaws.com"
	arn  = "arn:aws:iam::111122223333:oidc-provider/prod-oidc.s3.eu-central-1.amazonaws.com"
	role = "arn:aws:iam::111122223333:role/checkout"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// pod is one of the ServiceAccount checkout.
func pod(name string, standing chain.Standing, code chain.Code) overview.Workload {
	return overview.Workload{
		Subject: chain.Subject{Namespace: "shop", Pod: name}, Account: "checkout",
		Identity: chain.Identity{Standing: standing, Role: role, Code: code, Text: "what is seen of " + name},
	}
}

func account(name string, standing chain.Standing, named string, code chain.Code) overview.Workload {
	return overview.Workload{
		Subject:  chain.Subject{Namespace: "shop", Account: name},
		Identity: chain.Identity{Standing: standing, Role: named, Code: code, Text: "what is seen of " + name},
	}
}

// broken is a finding with a command.
func broken(code chain.Code) *chain.Finding {
	return &chain.Finding{Code: code, Symptom: "symptom of " + string(code), Mend: []string{"mend " + string(code)}}
}

// report has the states of L0, L1, L2 and L4, and says of L3 what one ServiceAccount has.
func report(states map[chain.Link]chain.State) *chain.Report {
	out := &chain.Report{Role: role}
	for _, link := range chain.Links() {
		step := chain.Step{Link: link, State: chain.Sound, Text: "text of " + string(link)}
		if state, ok := states[link]; ok {
			step.State = state
		}
		switch step.State {
		case chain.Broken:
			step.Findings = []chain.Finding{*broken(chain.Code(string(link) + "-CODE"))}
		case chain.Unseen:
			step.Needs = "a right for " + string(link)
		case chain.Sound, chain.Unreached, chain.Unasked:
		}
		out.Links = append(out.Links, step)
	}
	return out
}

// well is a cluster of which all was seen, and all is well.
func well() overview.Seen {
	return overview.Seen{
		Chain:    overview.Chain{Subject: chain.Subject{Namespace: "shop", Pod: "checkout-1"}, Report: report(nil), Issuer: url, Provider: arn},
		Accounts: overview.Accounts{Total: 40, Named: 12}, Pods: overview.Pods{Total: 9, Given: 9}, Requests: overview.Requests{Total: 3},
	}
}

func TestAClusterIsJudgedByWhatWasSeen(t *testing.T) {
	waits := &credentials.Row{Namespace: "team-a", Name: "reports", State: credentials.RowWaiting, Reason: string(credentials.ReasonNoServiceAccountNames)}
	lacking := pod("checkout-2", chain.Without, chain.CodeNotInjected)
	slip := account("cart", chain.Without, "", chain.CodeAnnotationSlip)
	for name, test := range map[string]struct {
		change func(*overview.Seen)
		// states are those of L0 to L4, by their first letters; unreached is "-" and unseen "?".
		states, todo, command, sentence string
	}{
		"all is well": {states: "sssss", sentence: "All is well, as far as was looked."},
		"the issuer is broken, and more": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Issuer: chain.Broken, chain.Publication: chain.Unreached, chain.Webhook: chain.Broken})
				s.Pods.Without, s.Pods.First, s.Requests.First = 1, &lacking, waits
			},
			states: "b-ssb", todo: "Symptom of L0-CODE", command: "mend L0-CODE", sentence: "The first broken link is L0 issuer.",
		},
		"a slip comes before the webhook": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Webhook: chain.Broken})
				s.Accounts.Slip, s.Accounts.SlipFinding = &slip, broken(chain.CodeAnnotationSlip)
			},
			states: "sssbb", todo: "Symptom of L3-ANNOTATION-SLIP", command: "mend L3-ANNOTATION-SLIP", sentence: "The first broken link is L3 binding.",
		},
		"a slip of which no more was read": {
			change: func(s *overview.Seen) { s.Accounts.Slip = &slip },
			states: "sssbs", todo: "What is seen of cart", sentence: "The first broken link is L3 binding.",
		},
		"what one ServiceAccount has at L3 is not the cluster's": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Binding: chain.Broken})
			},
			states: "sssss", sentence: "All is well, as far as was looked.",
		},
		"a pod lacks its identity": {
			change: func(s *overview.Seen) {
				s.Pods.Without, s.Pods.First, s.Pods.Finding, s.Requests.First = 3, &lacking, broken(chain.CodeNotInjected), waits
			},
			states: "sssss", todo: "Symptom of L5-NOT-INJECTED", command: "mend L5-NOT-INJECTED", sentence: "3 pods lack their identity.",
		},
		"a request waits": {
			change: func(s *overview.Seen) { s.Requests.Waiting, s.Requests.First = 1, waits },
			states: "sssss", todo: "CredentialsRequest team-a/reports waits", sentence: "One CredentialsRequest waits.",
		},
		"a request cannot be deleted": {
			change: func(s *overview.Seen) {
				s.Requests.Waiting, s.Requests.First = 1, &credentials.Row{Namespace: "team-a", Name: "old", State: credentials.RowDeleting, Reason: "AccessDenied"}
			},
			states: "sssss", todo: "CredentialsRequest team-a/old waits to be deleted", sentence: "One CredentialsRequest waits.",
		},
		"of many pods it is not known": {
			change: func(s *overview.Seen) { s.Pods.Unjudged = 500 },
			states: "sssss", sentence: "Nothing that was looked at is wrong. Not everything could be seen: 500 pods.",
		},
		"of one pod it is not known": {
			change: func(s *overview.Seen) { s.Pods.Unjudged = 1 },
			states: "sssss", sentence: "Nothing that was looked at is wrong. Not everything could be seen: 1 pod.",
		},
		"rights are missing": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Provider: chain.Unseen})
				s.Accounts.Unknown, s.Accounts.Needs, s.Pods.Unknown, s.Requests.Unknown = "you may not list them", "list serviceaccounts", "you may not", "you may not"
			},
			states: "ss??s", sentence: "Nothing that was looked at is wrong. Not everything could be seen: L2 provider, L3 binding, the pods, the CredentialsRequests.",
		},
		"a broken link beside what could not be seen": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Publication: chain.Unseen, chain.Provider: chain.Broken})
			},
			states: "s?bss", todo: "Symptom of L2-CODE", command: "mend L2-CODE", sentence: "The first broken link is L2 provider. Not everything could be seen: L1 publication.",
		},
		"nothing names a role": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Provider: chain.Unreached, chain.Binding: chain.Broken, chain.Webhook: chain.Unreached})
				s.Chain.Report.Role, s.Accounts.Named = "", 0
			},
			states: "ss---", sentence: "All is well, as far as was looked; no ServiceAccount names a role yet.",
		},
		"nothing that may be read names a role": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Provider: chain.Unreached, chain.Webhook: chain.Unreached})
				s.Chain.Report.Role, s.Accounts.Named, s.Accounts.Unknown, s.Accounts.Needs = "", 0, "you may not list them", "list serviceaccounts"
			},
			states: "ss???", sentence: "Nothing that was looked at is wrong. Not everything could be seen: L2 provider, L3 binding, L4 webhook.",
		},
		"the workload was not read, and the issuer was": {
			change: func(s *overview.Seen) {
				s.Chain.Report = report(map[chain.Link]chain.State{chain.Publication: chain.Unseen, chain.Provider: chain.Unreached, chain.Webhook: chain.Unreached})
				s.Chain.Unread, s.Chain.Needs = "you may not get it", "get serviceaccounts"
			},
			states: "s??s?", sentence: "Nothing that was looked at is wrong. Not everything could be seen: L1 publication, L2 provider, L4 webhook.",
		},
		"nothing was read": {
			change: func(s *overview.Seen) {
				*s = overview.Seen{Chain: overview.Chain{Unread: "no answer"}, Accounts: overview.Accounts{Unknown: "no answer"}, Pods: overview.Pods{Unknown: "no answer"}, Requests: overview.Requests{Unknown: "no answer"}}
			},
			states: "?????", sentence: "Nothing that was looked at is wrong. Not everything could be seen: L0 issuer, L1 publication, L2 provider, L3 binding, L4 webhook, the pods, the CredentialsRequests.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := well()
			if test.change != nil {
				test.change(&seen)
			}
			got := overview.Judge(seen)
			if states := letters(got.Links); states != test.states {
				t.Errorf("the links are %s, want %s", states, test.states)
			}
			title, command := "", ""
			if got.Todo != nil {
				title = got.Todo.Title
				if f := got.Todo.Finding; f != nil {
					command = f.Mend[0]
				}
			}
			if title != test.todo || command != test.command || got.Sentence != test.sentence {
				t.Errorf("to do is %q by %q, want %q by %q; it says %q, want %q", title, command, test.todo, test.command, got.Sentence, test.sentence)
			}
			for _, link := range got.Links {
				if link.Text == "" || link.State == chain.Unseen && strings.HasSuffix(link.Text, ": ") {
					t.Errorf("%s says %q", link.Link, link.Text)
				}
			}
		})
	}
}

func letters(links []overview.State) (out string) {
	for _, link := range links {
		switch link.State {
		case chain.Unreached:
			out += "-"
		case chain.Unseen, chain.Unasked:
			out += "?"
		case chain.Sound, chain.Broken:
			out += string(link.State[:1])
		}
	}
	return out
}

// TestNothingBrokenIsPassedOverAndNothingUnseenIsSound: all states of the links, with and without all else.
func TestNothingBrokenIsPassedOverAndNothingUnseenIsSound(t *testing.T) {
	states := []chain.State{chain.Sound, chain.Broken, chain.Unseen, chain.Unreached, chain.Unasked}
	lacking := pod("checkout-2", chain.Without, chain.CodeNotInjected)
	slip := account("cart", chain.Without, "", chain.CodeAnnotationSlip)
	for number := range 625 * 128 {
		links := map[chain.Link]chain.State{}
		rest := number
		for _, link := range []chain.Link{chain.Issuer, chain.Publication, chain.Provider, chain.Webhook} {
			links[link] = states[rest%5]
			rest /= 5
		}
		bit := func(at int) bool { return rest>>at&1 == 1 }
		seen := well()
		seen.Chain.Report = report(links)
		if bit(0) {
			seen.Chain.Report.Role = ""
		}
		if bit(1) {
			seen.Chain.Unread = "no answer"
		}
		if bit(2) {
			seen.Accounts.Unknown = "no answer"
		}
		if bit(3) {
			seen.Accounts.Slip = &slip
		}
		if bit(4) {
			seen.Accounts.Named = 0
		}
		if bit(5) {
			seen.Pods.First, seen.Pods.Without = &lacking, 1
		}
		if bit(6) {
			seen.Pods.Unknown = "no answer"
		}
		check(t, number, seen, links)
	}
}

func check(t *testing.T, number int, seen overview.Seen, links map[chain.Link]chain.State) {
	t.Helper()
	got := overview.Judge(seen)
	wantsTodo, lacks := seen.Pods.First != nil, seen.Pods.Unknown != ""
	for _, link := range got.Links {
		was, ofReport := links[link.Link]
		switch {
		case ofReport && (was == chain.Sound) != (link.State == chain.Sound) || ofReport && (was == chain.Broken) != (link.State == chain.Broken):
			t.Fatalf("%d: %s was %s and is said to be %s", number, link.Link, was, link.State)
		case !ofReport && link.State == chain.Sound && (seen.Accounts.Unknown != "" || seen.Accounts.Slip != nil || seen.Accounts.Named == 0):
			t.Fatalf("%d: %s is said to be sound: %+v", number, link.Link, seen.Accounts)
		}
		wantsTodo = wantsTodo || link.State == chain.Broken
		lacks = lacks || link.State == chain.Unseen || link.State == chain.Unasked
	}
	if (got.Todo != nil) != wantsTodo {
		t.Fatalf("%d: the links are %s, to do is %+v", number, letters(got.Links), got.Todo)
	}
	at := slices.IndexFunc(got.Links, func(l overview.State) bool { return l.State == chain.Broken })
	if at >= 0 && (got.Todo.Finding != got.Links[at].Finding || got.Todo.Subject != got.Links[at].By) {
		t.Fatalf("%d: the first broken link is %s, to do is %+v", number, got.Links[at].Link, got.Todo)
	}
	if lacks != strings.Contains(got.Sentence, "Not everything could be seen") || (lacks || wantsTodo) && strings.Contains(got.Sentence, "All is well") {
		t.Fatalf("%d: the links are %s, and it says %q", number, letters(got.Links), got.Sentence)
	}
}

func TestWhatTheClusterIsJudgedBy(t *testing.T) {
	given, passed := pod("given", chain.Given, ""), pod("passed", chain.Without, chain.CodeNotInjected)
	over, stale := pod("over", chain.Nobody, chain.CodeNotInjected), pod("stale", chain.Without, chain.CodeStaleRole)
	byHand := pod("by-hand", chain.Given, "")
	byHand.Account = "plain"
	checkout, plain := account("checkout", chain.Given, role, ""), account("plain", chain.Nobody, "", chain.CodeNoRole)
	last := chain.Subject{Namespace: "mine", Account: "default"}
	for name, test := range map[string]struct {
		pods, accounts []overview.Workload
		want           []chain.Subject
	}{
		"nothing":                      {want: []chain.Subject{last}},
		"no ServiceAccount has a role": {pods: []overview.Workload{byHand}, accounts: []overview.Workload{plain}, want: []chain.Subject{last}},
		"no pod":                       {accounts: []overview.Workload{plain, checkout}, want: []chain.Subject{checkout.Subject, last}},
		"a pod that has its role":      {pods: []overview.Workload{over, stale, byHand, given}, accounts: []overview.Workload{checkout}, want: []chain.Subject{given.Subject, checkout.Subject, last}},
		"a pod that was passed by":     {pods: []overview.Workload{given, passed}, accounts: []overview.Workload{checkout}, want: []chain.Subject{passed.Subject, given.Subject, checkout.Subject, last}},
	} {
		if diff := cmp.Diff(test.want, overview.Candidates(slices.Values(test.pods), slices.Values(test.accounts), "mine")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPodsAndServiceAccountsAreCounted(t *testing.T) {
	first, second := pod("a", chain.Without, chain.CodeStaleRole), pod("b", chain.Without, chain.CodeNotInjected)
	pods := overview.CountPods(slices.Values([]overview.Workload{pod("x", chain.Given, ""), first, second, pod("y", chain.Nobody, ""), pod("z", chain.Unknown, "")}))
	if diff := cmp.Diff(overview.Pods{Total: 5, Given: 1, Without: 2, Unjudged: 1, First: &first}, pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	slip := account("b", chain.Without, "checkout", chain.CodeRoleARN)
	accounts := overview.CountAccounts(slices.Values([]overview.Workload{account("a", chain.Nobody, "", chain.CodeNoRole), slip, account("c", chain.Given, role, ""), account("d", chain.Without, "", chain.CodeAnnotationSlip)}))
	if diff := cmp.Diff(overview.Accounts{Total: 4, Named: 1, Slip: &slip}, accounts); diff != "" {
		t.Errorf("ServiceAccounts (-want +got):\n%s", diff)
	}
}

func TestAnIssuerIsReadAsItIsStored(t *testing.T) {
	stored := map[string]any{
		"spec": map[string]any{"url": url},
		"status": map[string]any{
			"providers":  []any{map[string]any{"accountID": "111122223333", "arn": arn}},
			"conditions": []any{map[string]any{"type": "IssuerPublished", "status": "True", "lastTransitionTime": "2026-11-01T12:00:00Z"}},
		},
	}
	got := must.Get(overview.IssuerOf(stored))(t)
	want := overview.Issuer{URL: url, Providers: []string{arn}, Conditions: []metav1.Condition{{Type: "IssuerPublished", Status: "True", LastTransitionTime: metav1.NewTime(noon)}}}
	got.Conditions[0].LastTransitionTime = metav1.NewTime(got.Conditions[0].LastTransitionTime.UTC())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := overview.IssuerOf(map[string]any{"spec": "none"}); err == nil {
		t.Error("what is no OIDCIssuer is read as one")
	}
}

func TestAFindingIsThatOfItsCode(t *testing.T) {
	r := report(map[chain.Link]chain.State{chain.Binding: chain.Broken, chain.Injection: chain.Broken})
	if f := overview.FindingOf(r, "L5-CODE"); f == nil || f.Symptom != "symptom of L5-CODE" {
		t.Errorf("it is %+v", f)
	}
	if f := overview.FindingOf(r, "L9-CODE"); f != nil {
		t.Errorf("of a code that is not there: %+v", f)
	}
}
