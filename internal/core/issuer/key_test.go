package issuer_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// vectorID was computed with openssl for testdata/vector.pub.
const vectorID = "xkgwoTOurNoYaPuHlqG6WMib1b8nSflRkp95Hq7WvIg"

func read(t testing.TB, name string) string {
	t.Helper()
	out := must.Get(os.ReadFile("testdata/" + name))(t)
	return string(out)
}

func publicPEM(t testing.TB, public any) string {
	t.Helper()
	der := must.Get(x509.MarshalPKIXPublicKey(public))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func TestKeyIDIsThatOfKubernetes(t *testing.T) {
	keys := must.Get(issuer.ReadPEM(map[string]string{"service-account-001.pub": read(t, "vector.pub")}))(t)
	if len(keys) != 1 || keys[0].ID != vectorID || keys[0].Algorithm != "RS256" {
		t.Errorf("keys are %+v, want one RS256 key with ID %s", keys, vectorID)
	}
}

func TestBothSourcesGiveTheSameKeys(t *testing.T) {
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		t.Run(curve.Params().Name, func(t *testing.T) {
			private := must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t)
			fromPEM := must.Get(issuer.ReadPEM(map[string]string{"a": publicPEM(t, &private.PublicKey)}))(t)
			fromJWKS := must.Get(issuer.ReadJWKS(issuer.JWKS(fromPEM)))(t)
			if diff := cmp.Diff(fromPEM, fromJWKS); diff != "" {
				t.Errorf("-PEM +JWKS:\n%s", diff)
			}
		})
	}
}

func TestReadPEM(t *testing.T) {
	weak := publicPEM(t, &rsa.PublicKey{N: new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 1023), big.NewInt(1)), E: 65537})
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p224 := must.Get(ecdsa.GenerateKey(elliptic.P224(), rand.Reader))(t)
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}))
	garbage := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")}))
	private := "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"
	tests := map[string]struct {
		data map[string]string
		keys int
		want issuer.Reason
	}{
		"two entries give two keys":                             {map[string]string{"a": pairs[0].pem, "b": pairs[1].pem}, 2, ""},
		"two blocks in one entry give two keys":                 {map[string]string{"a": pairs[0].pem + pairs[1].pem}, 2, ""},
		"the same key twice is one key":                         {map[string]string{"a": pairs[0].pem, "b": pairs[0].pem}, 1, ""},
		"a private key refuses the whole source":                {map[string]string{"a": pairs[0].pem, "b": private}, 0, issuer.ReasonPrivateKeyInSource},
		"a private key that does not decode is still one":       {map[string]string{"a": pairs[0].pem + "-----BEGIN EC PRIVATE KEY-----"}, 0, issuer.ReasonPrivateKeyInSource},
		"an RSA key of 1024 bits is refused":                    {map[string]string{"a": pairs[0].pem, "b": weak}, 0, issuer.ReasonWeakKey},
		"an Ed25519 key is refused":                             {map[string]string{"a": publicPEM(t, edwards)}, 0, issuer.ReasonUnsupportedKey},
		"an EC key on P-224 is refused":                         {map[string]string{"a": publicPEM(t, &p224.PublicKey)}, 0, issuer.ReasonUnsupportedKey},
		"a certificate is refused":                              {map[string]string{"a": certificate}, 0, issuer.ReasonUnsupportedKey},
		"a block that is no key is refused":                     {map[string]string{"a": garbage}, 0, issuer.ReasonKeyUnreadable},
		"an entry without PEM is refused":                       {map[string]string{"a": "hello"}, 0, issuer.ReasonKeyUnreadable},
		"an empty entry is refused":                             {map[string]string{"a": ""}, 0, issuer.ReasonKeyUnreadable},
		"a block that is cut off is refused":                    {map[string]string{"a": pairs[0].pem + pairs[1].pem[:60]}, 0, issuer.ReasonKeyUnreadable},
		"text after the last block is refused":                  {map[string]string{"a": pairs[0].pem + "and more"}, 0, issuer.ReasonKeyUnreadable},
		"no entry gives no key, and the caller says what of it": {map[string]string{}, 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			keys, err := issuer.ReadPEM(test.data)
			wantRefusal(t, err, test.want)
			if len(keys) != test.keys {
				t.Errorf("%d keys, want %d", len(keys), test.keys)
			}
		})
	}
}

func wantRefusal(t *testing.T, err error, want issuer.Reason) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return
	}
	var refusal *issuer.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != want {
		t.Fatalf("error is %v, want a refusal with reason %s", err, want)
	}
}

func TestReadJWKS(t *testing.T) {
	one, two := pairs[0].JWK, pairs[1].JWK
	many := strings.TrimSuffix(strings.Repeat(one+",", issuer.MaxKeys+1), ",")
	sameID := strings.Replace(two, pairs[1].ID, pairs[0].ID, 1)
	var own map[string]string
	must.Do(t, json.Unmarshal([]byte(one), &own))
	noID := strings.Replace(one, pairs[0].ID, "", 1)
	offCurve := strings.Replace(one, own["x"], "AAAA"+own["x"][4:], 1)
	tests := map[string]struct {
		set  string
		ids  []string
		want issuer.Reason
	}{
		"keys are sorted by ID":                       {two + "," + one, []string{pairs[0].ID, pairs[1].ID}, ""},
		"an ID of an external signer is kept":         {strings.Replace(one, pairs[0].ID, "mine", 1), []string{"mine"}, ""},
		"a key without ID gets the one of Kubernetes": {noID, []string{pairs[0].ID}, ""},
		"no key is no refusal here":                   {"", nil, ""},
		"a private member refuses the whole set":      {one + "," + strings.Replace(two, `{`, `{"d":"AA",`, 1), nil, issuer.ReasonPrivateKeyInSource},
		"a symmetric key is refused":                  {`{"kty":"oct","kid":"a","k":"AAAA"}`, nil, issuer.ReasonPrivateKeyInSource},
		"an Edwards key is refused":                   {`{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AAAA"}`, nil, issuer.ReasonUnsupportedKey},
		"a point off its curve is refused":            {offCurve, nil, issuer.ReasonKeyUnreadable},
		"an RSA key of eight bits is refused":         {`{"kty":"RSA","kid":"a","n":"_w","e":"AQAB"}`, nil, issuer.ReasonWeakKey},
		"a number is no key":                          {`7`, nil, issuer.ReasonKeyUnreadable},
		"more keys than AWS takes are refused":        {many, nil, issuer.ReasonTooManyKeys},
		"one ID for two keys is refused":              {one + "," + sameID, nil, issuer.ReasonDuplicateKeyID},
		"the same key twice is one key":               {one + "," + one, []string{pairs[0].ID}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			keys, err := issuer.ReadJWKS([]byte(`{"keys":[` + test.set + `]}`))
			wantRefusal(t, err, test.want)
			var ids []string
			for _, key := range keys {
				ids = append(ids, key.ID)
			}
			if diff := cmp.Diff(test.ids, ids); diff != "" {
				t.Errorf("key IDs (-want +got):\n%s", diff)
			}
		})
	}
	_, err := issuer.ReadJWKS([]byte(`{"keys":`))
	wantRefusal(t, err, issuer.ReasonKeyUnreadable)
}

func FuzzReadPEM(f *testing.F) {
	f.Add(read(f, "vector.pub"))
	f.Add(pairs[0].pem + pairs[1].pem)
	f.Add("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----")
	f.Add("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := issuer.ReadPEM(map[string]string{"a": text})
		wantPublishable(t, keys, err)
	})
}

func FuzzReadJWKS(f *testing.F) {
	f.Add(`{"keys":[]}`)
	f.Add(string(keySet(0, 1, 2)))
	f.Add(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"oct","k":"AA"},null,7]}`)
	f.Fuzz(func(t *testing.T, body string) {
		keys, err := issuer.ReadJWKS([]byte(body))
		wantPublishable(t, keys, err)
	})
}

// wantPublishable demands a refusal, or keys that read back as they are and
// hold nothing private.
func wantPublishable(t *testing.T, keys []issuer.Key, err error) {
	t.Helper()
	if err != nil {
		var refusal *issuer.Refusal
		if !errors.As(err, &refusal) || refusal.Reason == "" || len(keys) > 0 {
			t.Fatalf("error %v with %d keys, want a refusal and none", err, len(keys))
		}
		return
	}
	again, err := issuer.ReadJWKS(issuer.JWKS(keys))
	if err != nil {
		t.Fatalf("what was read does not read back: %v", err)
	}
	if diff := cmp.Diff(keys, again, cmp.Comparer(func(a, b []issuer.Key) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
		t.Fatalf("keys change when read back (-first +second):\n%s", diff)
	}
}
