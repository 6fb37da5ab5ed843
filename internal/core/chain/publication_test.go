package chain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// jwk is a public key of P-256, which RFC 7517 (A.1) has, under an ID; its thumbprint is somebody's own.
func jwk(id, more string) string {
	return fmt.Sprintf(`{"kty":"EC","kid":%q,"crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"%s}`, id, more)
}

// TestOnlyAnAnswerProvesThatAWSGetsNone: where this machine got none, the link is not seen, and what is
// needed is said.
func TestOnlyAnAnswerProvesThatAWSGetsNone(t *testing.T) {
	for name, each := range map[string]struct {
		change func(*chain.Evidence)
		state  chain.State
		says   string
	}{
		"no answer": {func(e *chain.Evidence) {
			e.Published.Value.Discovery = chain.Answer{At: "https://x", Error: "i/o timeout"}
			e.Published.Value.Keys.Status = 404 // at a place that nobody named
		}, chain.Unseen, "i/o timeout"},
		"the server fails":            {func(e *chain.Evidence) { e.Published.Value.Discovery.Status = 503 }, chain.Unseen, "503"},
		"too many ask":                {func(e *chain.Evidence) { e.Published.Value.Keys.Status = 429 }, chain.Unseen, "429"},
		"the proxy asks":              {func(e *chain.Evidence) { e.Published.Value.Discovery.Status = 407 }, chain.Unseen, "407"},
		"nothing was fetched":         {func(e *chain.Evidence) { e.Published.Value = nil }, chain.Unseen, "nobody has fetched"},
		"the API server shows no key": {func(e *chain.Evidence) { e.Signing.Value = nil }, chain.Unseen, "shows none"},
		"the issuer is not known":     {func(e *chain.Evidence) { e.Issuer.Value = nil }, chain.Unreached, "no issuer is known"},
		"the issuer is inside":        {func(e *chain.Evidence) { e.Issuer.Value = new("https://kubernetes.default.svc") }, chain.Unreached, "no issuer is known"},
		"the token's key is there": {func(e *chain.Evidence) {
			e.Signing.Value = &chain.Signing{Token: "one", Keys: []issuer.UsableKey{{ID: "next"}}}
		}, chain.Sound, "one"},
	} {
		e := copyOf(t, world())
		each.change(&e)
		r := chain.Explain(copyOf(t, e))
		if step := r.Links[1]; step.State != each.state || !strings.Contains(step.Text, each.says) || (step.State == chain.Unseen) == (step.Needs == "") {
			t.Errorf("%s: %+v", name, step)
		}
		if each.state != chain.Sound && r.Verdict == chain.Healthy {
			t.Errorf("%s: all is well", name)
		}
	}
}

// TestAnIssuerOfSomebodyElseIsTheirsToMend: no command of Tabard's would publish it.
func TestAnIssuerOfSomebodyElseIsTheirsToMend(t *testing.T) {
	for url, whose := range map[string]string{
		"https://oidc.eks.eu-central-1.amazonaws.com/id/ABC":    "AWS (EKS)",
		"https://oidc.eks.cn-north-1.amazonaws.com.cn/id/ABC":   "AWS (EKS)",
		"https://westeurope.oic.prod-aks.azure.com/T/I/":        "Azure (AKS)",
		"https://container.googleapis.com/v1/projects/p":        "Google (GKE)",
		"https://oidc.op1.openshiftapps.com/2k":                 "Red Hat (ROSA)",
		"https://oidc.eks.eu-central-1.amazonaws.com.evil.test": "",
		issuerURL: "",
	} {
		e := copyOf(t, world())
		e.Issuer.Value, e.Published.Value.Discovery.Status = &url, 404
		f := chain.Explain(e).First
		want := []string{"tabard issuer verify " + url}
		if whose == "" {
			want = []string{bootstraps}
		}
		if !slices.Equal(f.Mend, want) || whose != "" && !strings.Contains(f.Note, whose) || whose == "" && strings.Contains(f.Note, "publishes it itself") {
			t.Errorf("%s: %q, %s", url, f.Mend, f.Note)
		}
	}
}

// TestOfADocumentOnlyWhatIsJudgedIsKept: a page that came in its place may hold anything.
func TestOfADocumentOnlyWhatIsJudgedIsKept(t *testing.T) {
	discovery := issuer.Discovery(issuerURL, []string{"ES256"})
	keys := []byte(`{"keys":[` + jwk("one", "") + `,` + jwk("two", `,"use":"sig"`) + `,{"kty":"oct","kid":"k","k":"c2VjcmV0"},{"kid":"none"}]}`)
	for name, each := range map[string]struct {
		discovery, keys issuer.Fetch
		code            chain.Code
		state           chain.State
	}{
		"both":             {issuer.Fetch{Status: 200, Body: discovery}, issuer.Fetch{Status: 200, Body: bytes.ReplaceAll(keys, []byte(`"k":`), []byte(`"no":`))}, "", chain.Sound},
		"a shared secret":  {issuer.Fetch{Status: 200, Body: discovery}, issuer.Fetch{Status: 200, Body: keys}, chain.CodeDocument, chain.Broken},
		"a page":           {issuer.Fetch{Status: 200, Body: []byte("<html>token=eyJsecret \x1b[2J")}, issuer.Fetch{Status: 200, Body: keys}, chain.CodeDocument, chain.Broken},
		"another issuer":   {issuer.Fetch{Status: 200, Body: issuer.Discovery(issuerURL+"/x", nil)}, issuer.Fetch{Status: 200, Body: keys}, chain.CodeDocument, chain.Broken},
		"no key":           {issuer.Fetch{Status: 200, Body: discovery}, issuer.Fetch{Status: 200, Body: []byte(`{"keys":[]}`)}, chain.CodeDocument, chain.Broken},
		"forbidden":        {issuer.Fetch{Status: 403, Body: []byte("eyJsecret")}, issuer.Fetch{Status: 403}, chain.CodeNotPublic, chain.Broken},
		"a redirect":       {issuer.Fetch{Status: 307, Redirect: "https://x\x1b[2J"}, issuer.Fetch{Status: 200, Body: keys}, chain.CodeNotPublic, chain.Broken},
		"no answer":        {issuer.Fetch{Error: "no such host\x1b[2J"}, issuer.Fetch{Status: 404}, "", chain.Unseen},
		"a cut off one":    {issuer.Fetch{Status: 200, Body: discovery}, issuer.Fetch{Status: 200, Body: append(slices.Clone(keys), make([]byte, issuer.MaxDocumentBytes)...)[:issuer.MaxDocumentBytes]}, "", chain.Unseen},
		"another's answer": {issuer.Fetch{Status: 200, Body: []byte(`{"issuer":"\u001b[2J` + strings.Repeat("x", 5000) + `"}`)}, issuer.Fetch{Status: 200}, chain.CodeDocument, chain.Broken},
	} {
		e := copyOf(t, world())
		e.Signing.Value.Keys = issuer.UsableKeys(keys)[:2]
		e.Published.Value = chain.PrunePublished(issuerURL, issuer.Public{Discovery: each.discovery, Keys: each.keys, KeysAt: issuerURL + "/keys.json"})
		kept := string(must.Get(json.Marshal(e.Published))(t))
		if strings.Contains(kept, "secret") && !strings.Contains(kept, "a private or a shared one") || strings.Contains(kept, "c2VjcmV0") || strings.Contains(kept, `\u001b`) || len(kept) > 4000 {
			t.Errorf("%s: the evidence is %s", name, kept)
		}
		step := chain.Explain(copyOf(t, e)).Links[1]
		if step.State != each.state || each.code != "" && step.Findings[0].Code != each.code {
			t.Errorf("%s: %+v", name, step)
		}
	}
}
