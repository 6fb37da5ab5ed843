package oidc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// host serves whatever a test wants at the two documents' places.
type host struct {
	*httptest.Server
	discovery func(w http.ResponseWriter, r *http.Request)
	keys      func(w http.ResponseWriter, r *http.Request)
	asked     int
}

func newHost(t *testing.T, key jose.JSONWebKey) *host {
	h := &host{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) { h.discovery(w, r) })
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) { h.asked++; h.keys(w, r) })
	h.Server = httptest.NewTLSServer(mux)
	t.Cleanup(h.Close)
	h.discovery = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, h.URL, h.URL+"/keys")
	}
	h.keys = func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}})
	}
	return h
}

func newKey(t *testing.T) jose.JSONWebKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: "one", Algorithm: "ES256"}
}

func newToken(t *testing.T, key jose.JSONWebKey, issuer string) *Token {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(`{"iss":"` + issuer + `","sub":"s","aud":"a","exp":2,"iat":1}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	token, err := ReadToken(raw)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (h *host) providers(now func() time.Time) *Providers {
	pool := x509.NewCertPool()
	pool.AddCert(h.Certificate())
	return New(Options{Roots: []*x509.CertPool{x509.NewCertPool(), pool}, Now: now})
}

func TestDocumentsAreJudged(t *testing.T) {
	key := newKey(t)
	answer := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	public, err := json.Marshal(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	many := `{"keys":[` + strings.Repeat(string(public)+",", 100) + string(public) + `]}`
	cases := map[string]struct {
		change func(*host)
		want   Kind
	}{
		"good ones": {func(*host) {}, 0},
		"another issuer in the discovery document": {func(h *host) {
			h.discovery = answer(`{"issuer":"https://elsewhere.example","jwks_uri":"` + h.URL + `/keys"}`)
		}, Retrieval},
		"keys over plain HTTP": {func(h *host) {
			h.discovery = answer(`{"issuer":"` + h.URL + `","jwks_uri":"http://127.0.0.1:1/keys"}`)
		}, Retrieval},
		"a discovery document that is missing": {func(h *host) { h.discovery = http.NotFound }, Retrieval},
		"keys that are no JSON":                {func(h *host) { h.keys = answer("<html>") }, Retrieval},
		"no key":                               {func(h *host) { h.keys = answer(`{"keys":[]}`) }, Retrieval},
		"only keys of other types":             {func(h *host) { h.keys = answer(`{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"OKP"},7]}`) }, Retrieval},
		"more than 100 keys":                   {func(h *host) { h.keys = answer(many) }, Retrieval},
		"more than a mebibyte":                 {func(h *host) { h.keys = answer(strings.Repeat(" ", maxBody+1)) }, Retrieval},
		"a redirect on the same host": {func(h *host) {
			inner := h.keys
			h.keys = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery == "" {
					http.Redirect(w, r, "/keys?again", http.StatusFound)
					return
				}
				inner(w, r)
			}
		}, 0},
		"a redirect to plain HTTP": {func(h *host) {
			h.keys = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
			}
		}, Retrieval},
		"redirects without end": {func(h *host) {
			h.keys = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) }
		}, Retrieval},
		"a server that breaks off": {func(h *host) {
			h.keys = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		}, Unreachable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, key)
			c.change(h)
			err := h.providers(time.Now).Verify(t.Context(), newToken(t, key, h.URL), nil)
			if got := kind(err); got != c.want {
				t.Errorf("error %v of kind %d, want kind %d", err, got, c.want)
			}
		})
	}
}

func kind(err error) Kind {
	var problem *Error
	if errors.As(err, &problem) {
		return problem.Kind
	}
	if err != nil {
		return -1
	}
	return 0
}

func TestCertificateMustNameTheHost(t *testing.T) {
	h := newHost(t, newKey(t))
	chain := []*x509.Certificate{h.Certificate()}
	pool := x509.NewCertPool()
	pool.AddCert(h.Certificate())
	for name, fits := range map[string]bool{"127.0.0.1": true, "example.com": true, "127.0.0.2": false, "elsewhere.example": false} {
		if err := verifyChain(chain, name, []*x509.CertPool{pool}, nil); (err == nil) != fits {
			t.Errorf("for the host %s: %v", name, err)
		}
	}
	if err := verifyChain(nil, "127.0.0.1", []*x509.CertPool{pool}, nil); err == nil {
		t.Error("an empty chain is trusted")
	}
}

func TestPinsOfOneAccountDoNotVouchForAnother(t *testing.T) {
	key := newKey(t)
	h := newHost(t, key)
	providers := New(Options{Now: time.Now})
	token := newToken(t, key, h.URL)
	if err := providers.Verify(t.Context(), token, []string{thumbprint(h.Certificate())}); err != nil {
		t.Fatal(err)
	}
	if err := providers.Verify(t.Context(), token, nil); kind(err) != Untrusted {
		t.Errorf("without the pin: %v", err)
	}
}

func TestKeysAreKeptForFiveMinutes(t *testing.T) {
	key := newKey(t)
	h := newHost(t, key)
	now := time.Now()
	providers := h.providers(func() time.Time { return now })
	token := newToken(t, key, h.URL)
	for _, step := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {4 * time.Minute, 1}, {2 * time.Minute, 2}, {-time.Hour, 3}} {
		now = now.Add(step.after)
		if err := providers.Verify(t.Context(), token, nil); err != nil {
			t.Fatal(err)
		}
		if h.asked != step.asked {
			t.Errorf("%v later the keys were fetched %d times, want %d", step.after, h.asked, step.asked)
		}
	}
	providers.Reset()
	if err := providers.Verify(t.Context(), token, nil); err != nil || h.asked != 4 {
		t.Errorf("after a reset: fetched %d times, error %v", h.asked, err)
	}
}

func TestNumericDatesAreWholeNumbers(t *testing.T) {
	for text, want := range map[string]bool{"1700000000": true, "1.7e9": true, "1700000000.5": false, `"1700000000"`: false, "null": false, "": false, "1e400000": false, "-1": true} {
		if _, ok := instant(json.RawMessage(text)); ok != want {
			t.Errorf("%q is a date: %v, want %v", text, ok, want)
		}
	}
}

func FuzzReadToken(f *testing.F) {
	encode := base64.RawURLEncoding.EncodeToString
	f.Add("a.b.c")
	f.Add(encode([]byte(`{"alg":"ES256","kid":"one"}`)) + "." + encode([]byte(`{"iss":"i","sub":"s","aud":["a"],"exp":2,"iat":1}`)) + ".c")
	f.Fuzz(func(t *testing.T, raw string) {
		token, err := ReadToken(raw)
		if err != nil {
			if kind(err) != Malformed && kind(err) != Incomplete {
				t.Errorf("error %v is of kind %d", err, kind(err))
			}
			return
		}
		if token.Issuer == "" || token.Subject == "" || len(token.Audience) == 0 {
			t.Errorf("a token without required claims is read: %+v", token)
		}
		if token.verify([]jose.JSONWebKey{}) == nil {
			t.Error("a token verifies without a key")
		}
	})
}
