package issuer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// signer is a private key with its published form.
type signer struct {
	private *ecdsa.PrivateKey
	key     issuer.Key
}

func newSigner(t *testing.T) signer {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	keys := must.Get(issuer.ReadPEM(map[string]string{"a": publicPEM(t, &private.PublicKey)}))(t)
	return signer{private, keys[0]}
}

func (s signer) sign(t *testing.T, claims map[string]any) string {
	t.Helper()
	key := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.private, KeyID: s.key.ID}}
	tool := must.Get(jose.NewSigner(key, nil))(t)
	payload := must.Get(json.Marshal(claims))(t)
	signed := must.Get(tool.Sign(payload))(t)
	out := must.Get(signed.CompactSerialize())(t)
	return out
}

func claims(iss string, from, to time.Duration) map[string]any {
	return map[string]any{"iss": iss, "aud": []string{"a"}, "nbf": testTime.Add(from).Unix(), "exp": testTime.Add(to).Unix()}
}

func TestVerifyToken(t *testing.T) {
	ours, other := newSigner(t), newSigner(t)
	fine := ours.sign(t, claims(testURL, 0, time.Hour))
	keys := string(issuer.JWKS([]issuer.Key{ours.key, pairs[0].Key, {ID: "odd", JWK: `{"kty":"odd","kid":"odd"}`}}))
	discovery := string(issuer.Discovery(testURL, []string{"ES256"}))
	impostor := other
	impostor.key.ID = ours.key.ID
	tests := map[string]struct{ raw, keys, discovery, want string }{
		"a fresh token verifies beside keys of any kind": {fine, keys, discovery, ""},
		"a key that is not published":                    {other.sign(t, claims(testURL, 0, time.Hour)), keys, discovery, "does not hold"},
		"another key under the same ID":                  {impostor.sign(t, claims(testURL, 0, time.Hour)), keys, discovery, "does not fit"},
		"another issuer in the token":                    {ours.sign(t, claims(testURL+"/", 0, time.Hour)), keys, discovery, "names the issuer"},
		"an expired token blames the clock":              {ours.sign(t, claims(testURL, -time.Hour, -time.Minute)), keys, discovery, "this clock is ahead"},
		"a token of the future blames the clock":         {ours.sign(t, claims(testURL, time.Hour, 2*time.Hour)), keys, discovery, "this clock is behind"},
		"a clock a minute behind is fine":                {ours.sign(t, claims(testURL, time.Minute, time.Hour)), keys, discovery, ""},
		"a discovery document of another issuer":         {fine, keys, strings.ReplaceAll(discovery, "tabard-demo", "other"), "names the issuer"},
		"a discovery document that leads elsewhere":      {fine, keys, strings.Replace(discovery, "keys.json", "jwks", 1), "leads to keys"},
		"a discovery document without the algorithm":     {fine, keys, strings.Replace(discovery, "ES256", "RS256", 1), "allows RS256"},
		"a discovery document that is a web page":        {fine, keys, "<html>", "no JSON object"},
		"a keys document that is a web page":             {fine, "<html>", discovery, "does not hold"},
		"a published key that is broken":                 {fine, `{"keys":[{"kty":"EC","kid":"` + ours.key.ID + `"}]}`, discovery, "no valid public key"},
		"no token at all":                                {"secret", keys, discovery, "expected the three"},
		"a token of blanks":                              {" . . ", keys, discovery, "no JSON"},
		"an unsigned token":                              {"eyJhbGciOiJub25lIiwia2lkIjoiIn0.e30.", keys, discovery, "does not hold"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := issuer.VerifyToken(test.raw, []byte(test.keys), []byte(test.discovery), testURL, testTime)
			wantError(t, err, test.want)
			if head, _, _ := strings.Cut(test.raw, "."); err != nil && len(head) > 9 && strings.Contains(err.Error(), head) {
				t.Errorf("the error holds the token: %v", err)
			}
		})
	}
}

func TestTokenHeader(t *testing.T) {
	ours := newSigner(t)
	tests := map[string]struct {
		issued any
		want   time.Time
	}{
		"a token that says when it was issued": {testTime.Unix(), testTime},
		"one that does not":                    {nil, time.Time{}},
		"one that was issued before time":      {-1, time.Time{}},
		"one that was issued after all time":   {1e300, time.Time{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			body := claims(testURL, 0, time.Hour)
			body["iat"] = test.issued
			got := must.Get(issuer.TokenHeader(ours.sign(t, body)))(t)
			if want := (issuer.Token{Issuer: testURL, KeyID: ours.key.ID, IssuedAt: test.want}); got != want {
				t.Errorf("header is %+v, want %+v", got, want)
			}
		})
	}
}

func FuzzVerifyToken(f *testing.F) {
	f.Add("eyJhbGciOiJub25lIiwia2lkIjoiIn0.e30.", `{"keys":[{"kty":"EC","kid":""}]}`, "{}")
	f.Add("a.b.c", "", `{"issuer":"`+testURL+`","jwks_uri":"`+testURL+`/keys.json"}`)
	f.Fuzz(func(t *testing.T, raw, keys, discovery string) {
		if err := issuer.VerifyToken(raw, []byte(keys), []byte(discovery), testURL, testTime); err == nil {
			t.Fatal("a made-up token verifies")
		}
	})
}
