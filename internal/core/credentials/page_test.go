package credentials_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/core/tokensecret"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The words of the page's table, each for all that it means.
var (
	pageRequests = map[string][]credentials.Asked{
		"any with a providerSpec, and it cannot be read what cluster this is": {
			{Provider: aws, Target: credentials.KindSecret, NamesSecret: true, Platform: platform.Facts{Missing: []string{"Infrastructure could not be read"}}},
			{Provider: aws, Target: credentials.KindServiceAccount, Platform: platform.Facts{Missing: []string{"Infrastructure could not be read"}}},
		},
		"of another cloud than the cluster's, or of no known kind": {
			{Provider: azure, Target: credentials.KindSecret, NamesSecret: true}, {Provider: "NutanixProviderSpec", Target: credentials.KindSecret, NamesSecret: true},
			{Provider: azure, Target: credentials.KindServiceAccount}, {Provider: "", Target: credentials.KindSecret, NamesSecret: true},
		},
		"without providerSpec": {
			{NoProvider: true, Target: credentials.KindSecret, NamesSecret: true}, {NoProvider: true, Target: credentials.KindServiceAccount}, {NoProvider: true, Invalid: "none"},
		},
		"for a ServiceAccount": {{Provider: aws, Target: credentials.KindServiceAccount}, {Provider: aws, Target: credentials.KindServiceAccount, NamesSecret: true}},
		"for a Secret":         {{Provider: aws, Target: credentials.KindSecret, NamesSecret: true}},
		"whose target is invalid, with the name of a Secret": {{Provider: aws, Invalid: "two", NamesSecret: true}},
		"whose target is invalid, without one":               {{Provider: aws, Invalid: "two"}},
		"whose target is invalid":                            {{Provider: aws, Invalid: "two", NamesSecret: true}, {Provider: aws, Invalid: "two"}},
		"that the operator had, and that is not adopted": {
			{Provider: aws, Target: credentials.KindSecret, NamesSecret: true, CCOFinalizer: true}, {Provider: aws, Target: credentials.KindServiceAccount, CCOFinalizer: true},
			{NoProvider: true, Invalid: "none", CCOFinalizer: true},
		},
		"that the operator had, and that is adopted": {{Provider: aws, Target: credentials.KindSecret, NamesSecret: true, CCOFinalizer: true, Adopted: true}},
	}
	pageOperators = map[string][]bool{"live": {true}, "absent": {false}, "any": {true, false}}
	pageModes     = map[string][]platform.Mode{
		"`Manual`": {platform.Manual}, "`Mint`": {platform.Mint}, "default": {platform.Default}, "`Passthrough`": {platform.Passthrough},
		"unreadable, contradictory or new": {platform.Unknown, platform.Conflict, "Later"},
		"any":                              {platform.Manual, platform.Mint, platform.Default, platform.Passthrough, platform.Unknown, platform.Conflict, "Later"},
	}
	pageActors = map[string]credentials.Actor{"nobody": credentials.ActorNobody, "the operator": credentials.ActorCCO, "Tabard": credentials.ActorTabard}
)

// TestThePagesTableOfWhoActsIsTrue: each row of docs/credentials.md, in all of its meanings,
// and each reason that the function knows is in a row.
func TestThePagesTableOfWhoActsIsTrue(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/credentials.md"))(t))
	_, table, _ := strings.Cut(page, "\n## Who fulfils a request\n")
	table, _, _ = strings.Cut(table, "\n## ")
	told, tried := map[credentials.Reason]bool{}, 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 5 || strings.HasPrefix(line, "| request ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		requests, operators, modes, actor := pageRequests[cells[0]], pageOperators[cells[1]], pageModes[cells[2]], pageActors[cells[3]]
		if requests == nil || operators == nil || modes == nil || actor == "" {
			t.Fatalf("the test has no words for %q", cells)
		}
		reason := credentials.Reason(strings.Trim(cells[4], "`"))
		told[reason] = true
		for _, asked := range requests {
			for _, live := range operators {
				for _, mode := range modes {
					tried++
					if got := credentials.Act(on(asked, live, mode)); got.Actor != actor || got.Reason != reason {
						t.Errorf("%q: of %+v, operator live %t, mode %s, acts %+v", cells, asked, live, mode, got)
					}
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("%d cases were tried, want those of 17 rows", tried)
	}
	for _, reason := range []credentials.Reason{
		credentials.ReasonPlatformUnknown, credentials.ReasonIgnored, credentials.ReasonCCOLive, credentials.ReasonCCOWouldMint, credentials.ReasonCCOPassthrough,
		credentials.ReasonCCOModeUnknown, credentials.ReasonInvalidTarget, credentials.ReasonNotAdopted, credentials.ReasonProviderSpecMissing, credentials.ReasonAccepted,
	} {
		if !told[reason] {
			t.Errorf("no row of the page has the reason %s", reason)
		}
	}
}

// TestThePageNamesWhatRemovesStaticKeys: the page's part on minted keys names the
// annotations, keys and condition that the decision knows.
func TestThePageNamesWhatRemovesStaticKeys(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/credentials.md"))(t))
	_, part, found := strings.Cut(page, "\n## Access keys that were minted before\n")
	if !found {
		t.Fatal("the page has no part on minted keys")
	}
	part, _, _ = strings.Cut(part, "\n## ")
	for _, want := range append(slices.Clone(tokensecret.StaticKeys), cloudv1.MintedPolicyAnnotation,
		credentials.RemoveStaticKeysAnnotation+"=true", credentials.TypeStaticKeysPresent) {
		if !strings.Contains(part, want) {
			t.Errorf("the part on minted keys does not name %s", want)
		}
	}
}

// TestThePageHasTheReasonsAndTheCommandOfAudiencesServed, as the decision makes them.
func TestThePageHasTheReasonsAndTheCommandOfAudiencesServed(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/credentials.md"))(t))
	_, part, found := strings.Cut(page, "\n## Audiences of tokens\n")
	if !found {
		t.Fatal("the page has no part on audiences")
	}
	part, _, _ = strings.Cut(part, "\n## ")
	part = strings.ReplaceAll(part, "\\\n  ", "")
	for _, e := range credentials.Reference.Reasons {
		if strings.Contains(e.Conditions, credentials.TypeAudiencesServed) && !strings.Contains(part, "| `"+string(e.Reason)+"` |") {
			t.Errorf("the table lacks the reason %s", e.Reason)
		}
	}
	for _, want := range []string{"`" + credentials.DefaultTokenPath + "`", strings.Replace(addsOpenShift, "issuer1.example", "prod", 1)} {
		if !strings.Contains(part, want) {
			t.Errorf("the part on audiences lacks %s", want)
		}
	}
}

// on is a request on OpenShift, unless it says what the cluster is.
func on(asked credentials.Asked, live bool, mode platform.Mode) credentials.Asked {
	facts := openshift(mode)
	facts.Operator = platform.Operator{Live: live, Why: "so it is"}
	if len(asked.Platform.Missing) > 0 {
		facts.Missing, facts.OpenShift, facts.Cloud = slices.Clone(asked.Platform.Missing), false, ""
	}
	asked.Platform = facts
	return asked
}
