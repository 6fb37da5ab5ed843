package overview_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/overview"
)

func TestSinceIsToldByConditionsThatSayTheSame(t *testing.T) {
	at := func(kind string, status metav1.ConditionStatus, hour int) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(time.Duration(hour) * time.Hour))}
	}
	published, keys, registered := at("IssuerPublished", "True", 1), at("KeysInSync", "True", 2), at("ProviderReady", "True", 3)
	own := overview.Issuer{URL: url, Providers: []string{arn}, Conditions: []metav1.Condition{published, keys, registered}}
	for name, test := range map[string]struct {
		change func(*overview.Seen)
		// hours are those after noon since which L0 to L4 are so; -1 is not known.
		hours [5]int
	}{
		"all is well":                  {hours: [5]int{-1, 2, 3, -1, -1}},
		"another issuer":               {change: func(s *overview.Seen) { s.Issuers[0].URL += "/other" }, hours: [5]int{-1, -1, -1, -1, -1}},
		"another account":              {change: func(s *overview.Seen) { s.Issuers[0].Providers = nil }, hours: [5]int{-1, 2, -1, -1, -1}},
		"an issuer not known":          {change: func(s *overview.Seen) { s.Chain.Issuer, s.Issuers[0].URL = "", "" }, hours: [5]int{-1, -1, -1, -1, -1}},
		"no conditions":                {change: func(s *overview.Seen) { s.Issuers[0].Conditions, s.Webhook = nil, nil }, hours: [5]int{-1, -1, -1, -1, -1}},
		"conditions disagree":          {change: func(s *overview.Seen) { s.Issuers[0].Conditions[1].Status, s.Webhook[0].Status = "False", "Unknown" }, hours: [5]int{-1, -1, 3, -1, -1}},
		"broken, and they know":        {change: breakAll("False"), hours: [5]int{-1, 1, 3, -1, 4}},
		"broken, and they do not know": {change: breakAll("True"), hours: [5]int{-1, -1, -1, -1, -1}},
		"unseen": {change: func(s *overview.Seen) {
			s.Chain.Report = report(map[chain.Link]chain.State{chain.Publication: chain.Unseen, chain.Provider: chain.Unseen, chain.Webhook: chain.Unseen})
		}, hours: [5]int{-1, -1, -1, -1, -1}},
		"another fault of the webhook": {change: func(s *overview.Seen) {
			breakAll("False")(s)
			s.Chain.Report.Links[4].Findings[0].Code = chain.CodeNotAsked
		}, hours: [5]int{-1, 1, 3, -1, -1}},
	} {
		seen := well()
		one := own
		one.Conditions = slices.Clone(own.Conditions)
		seen.Issuers, seen.Webhook = []overview.Issuer{one}, []metav1.Condition{at("Available", "True", 4)}
		if test.change != nil {
			test.change(&seen)
		}
		for i, link := range overview.Judge(seen).Links {
			got := -1
			if link.Since != nil {
				got = int(link.Since.Sub(noon).Hours())
			}
			if got != test.hours[i] {
				t.Errorf("%s: %s is so since hour %d, want %d", name, link.Link, got, test.hours[i])
			}
		}
	}
}

// breakAll breaks L1, L2 and L4, with conditions of one status.
func breakAll(status metav1.ConditionStatus) func(*overview.Seen) {
	return func(s *overview.Seen) {
		s.Chain.Report = report(map[chain.Link]chain.State{chain.Publication: chain.Broken, chain.Provider: chain.Broken, chain.Webhook: chain.Broken})
		s.Chain.Report.Links[1].Findings[0].Code, s.Chain.Report.Links[4].Findings[0].Code = chain.CodeNotPublic, chain.CodeNoAnswer
		for i := range s.Issuers[0].Conditions {
			s.Issuers[0].Conditions[i].Status = status
		}
		s.Webhook[0].Status = status
	}
}
