package issuer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestExamine has a healthy issuer, and changes one thing of it in each case.
func TestExamine(t *testing.T) {
	ours := newSigner(t)
	private := string(must.Get(json.Marshal(jose.JSONWebKey{Key: ours.private, KeyID: "leak", Algorithm: "ES256"}))(t))
	const discovery, keys, token = 0, 1, 2
	type seen struct {
		public  issuer.Public
		cluster *issuer.Cluster
	}
	tests := map[string]struct {
		change func(*seen)
		at     int
		result issuer.CheckResult
		says   string
	}{
		"a token verifies":     {func(*seen) {}, token, issuer.CheckOK, "signed with"},
		"the keys are counted": {func(*seen) {}, keys, issuer.CheckOK, "1 public keys: " + ours.key.ID},
		"the discovery document is missing": {func(s *seen) { s.public.Discovery = issuer.Fetch{Status: 403} },
			discovery, issuer.CheckFailed, "403, expected 200"},
		"a token is not verified without documents": {func(s *seen) { s.public.Keys = issuer.Fetch{Status: 404} },
			token, issuer.CheckUnknown, "could not be fetched"},
		"the host does not answer": {func(s *seen) { s.public.Keys = issuer.Fetch{Error: "no such host"} },
			keys, issuer.CheckFailed, "no such host"},
		"a redirect is not followed": {func(s *seen) { s.public.Keys = issuer.Fetch{Status: 307, Redirect: "http://other.example.com"} },
			keys, issuer.CheckFailed, "http://other.example.com"},
		"the discovery document names another issuer": {func(s *seen) { s.public.Discovery.Body = issuer.Discovery(testURL+"-other", nil) },
			discovery, issuer.CheckFailed, "-other"},
		"a set without keys": {func(s *seen) { s.public.Keys.Body = []byte(`{"keys":[]}`) },
			keys, issuer.CheckFailed, "no public key"},
		"a web page in place of the keys": {func(s *seen) { s.public.Keys.Body = []byte(`<html>`) },
			keys, issuer.CheckFailed, "no public key"},
		"a private key": {func(s *seen) { s.public.Keys.Body = []byte(`{"keys":[` + ours.key.JWK + "," + private + `]}`) },
			keys, issuer.CheckFailed, `"leak" is no public key`},
		"a shared secret": {func(s *seen) { s.public.Keys.Body = []byte(`{"keys":[{"kty":"oct","kid":"shared","k":"c2VjcmV0"}]}`) },
			keys, issuer.CheckFailed, `"shared" is no public key`},
		"a key of a type that is not known": {func(s *seen) {
			s.public.Keys.Body = []byte(`{"keys":[` + ours.key.JWK + `,{"kty":"odd","kid":"odd"}]}`)
		},
			keys, issuer.CheckOK, "no public keys of a known type: odd"},
		"a key with an algorithm that the discovery document lacks": {func(s *seen) { s.public.Discovery.Body = issuer.Discovery(testURL, []string{"RS256"}) },
			keys, issuer.CheckFailed, "ES256"},
		"more keys than AWS accepts": {func(s *seen) {
			many := make([]string, issuer.MaxKeys+1)
			for i := range many {
				many[i] = strings.Replace(ours.key.JWK, ours.key.ID, strings.Repeat("k", i+1), 1)
			}
			s.public.Keys.Body = []byte(`{"keys":[` + strings.Join(many, ",") + `]}`)
		}, keys, issuer.CheckFailed, "AWS accepts at most 100"},
		"no token can be requested": {func(s *seen) { s.cluster.APIServers[0].Token.Error = "forbidden" },
			token, issuer.CheckUnknown, "forbidden"},
		"a token of another issuer": {func(s *seen) { s.cluster.APIServers[0].Token.Issuer = "https://kubernetes.default.svc" },
			token, issuer.CheckFailed, "--service-account-issuer"},
		"a token that does not verify": {func(s *seen) { s.cluster.APIServers[0].Token.PublicError = "does not fit" },
			token, issuer.CheckFailed, "does not fit"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := seen{
				issuer.Public{
					Discovery: issuer.Fetch{Status: 200, Body: issuer.Discovery(testURL, []string{"ES256"})},
					Keys:      issuer.Fetch{Status: 200, Body: issuer.JWKS([]issuer.Key{ours.key})},
				},
				&issuer.Cluster{APIServers: []issuer.APIServer{{Address: "10.0.0.1:6443", Token: issuer.Token{Issuer: testURL, KeyID: ours.key.ID}}}},
			}
			test.change(&now)
			got := issuer.Examine(testURL, now.public, now.cluster)
			if len(got) != 3 || got[test.at].Result != test.result || !strings.Contains(got[test.at].Detail, test.says) {
				t.Errorf("got %+v, want check %d to be %s and to say %q", got, test.at, test.result, test.says)
			}
		})
	}
	if got := issuer.Examine(testURL, issuer.Public{}, nil); len(got) != 2 {
		t.Errorf("without a cluster there are checks %+v, want those of the documents", got)
	}
}

// TestExamineAnIssuerOfOthers: those of AKS end with a slash, and have their keys where the discovery
// document says.
func TestExamineAnIssuerOfOthers(t *testing.T) {
	const url = testURL + "/tenant/cluster/"
	ours := newSigner(t)
	seen := issuer.Public{
		Discovery: issuer.Fetch{Status: 200, Body: []byte(`{"issuer":"` + url + `","jwks_uri":"` + url + `openid/v1/jwks","id_token_signing_alg_values_supported":["ES256"]}`)},
		Keys:      issuer.Fetch{Status: 200, Body: issuer.JWKS([]issuer.Key{ours.key})},
	}
	if seen.KeysAt = issuer.KeysOf(url, seen.Discovery); seen.KeysAt != url+"openid/v1/jwks" {
		t.Errorf("the keys are at %s", seen.KeysAt)
	}
	for _, check := range issuer.Examine(url, seen, nil) {
		if check.Result != issuer.CheckOK || strings.Contains(check.What, "cluster//") {
			t.Errorf("got %+v", check)
		}
	}
	if got := issuer.Examine(strings.TrimSuffix(url, "/"), seen, nil)[0]; got.Result != issuer.CheckFailed || !strings.Contains(got.Detail, "names the issuer") {
		t.Errorf("without the slash: got %+v", got)
	}
	for name, document := range map[string]issuer.Fetch{
		"no document": {Status: 404}, "no JSON": {Status: 200, Body: []byte("<html>")},
		"keys by HTTP": {Status: 200, Body: []byte(`{"issuer":"` + url + `","jwks_uri":"http://keys.example.com"}`)},
	} {
		at := issuer.KeysOf(url, document)
		if got := issuer.Examine(url, issuer.Public{Discovery: document, Keys: seen.Keys, KeysAt: at}, nil)[0]; at != url+issuer.KeysPath || got.Result != issuer.CheckFailed {
			t.Errorf("%s: the keys are at %s, and the check is %+v", name, at, got)
		}
	}
}
