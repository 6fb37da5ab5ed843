package awstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer serves the two documents of an issuer of tokens over TLS, and signs
// tokens.
type Issuer struct {
	*httptest.Server

	mu   sync.Mutex
	keys []jose.JSONWebKey
}

// StartIssuer publishes keys, or two new ones (RS256, ES256) if none is given,
// until the test ends.
func StartIssuer(t testing.TB, keys ...jose.JSONWebKey) *Issuer {
	t.Helper()
	if len(keys) == 0 {
		keys = []jose.JSONWebKey{RSAKey(t, "one"), ECKey(t, "two")}
	}
	i := &Issuer{keys: keys}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /issuer/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.Issuer(), "jwks_uri": i.Issuer() + "/keys"})
	})
	mux.HandleFunc("GET /issuer/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(KeySet(i.keys...))
	})
	i.Server = httptest.NewTLSServer(mux)
	t.Cleanup(i.Close)
	return i
}

// RSAKey is a new key for RS256.
func RSAKey(t testing.TB, id string) jose.JSONWebKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	return newKey(t, key, id, jose.RS256, err)
}

// ECKey is a new key for ES256.
func ECKey(t testing.TB, id string) jose.JSONWebKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return newKey(t, key, id, jose.ES256, err)
}

func newKey(t testing.TB, key crypto.Signer, id string, algorithm jose.SignatureAlgorithm, err error) jose.JSONWebKey {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(algorithm), Use: "sig"}
}

// KeySet is the public part of keys.
func KeySet(keys ...jose.JSONWebKey) jose.JSONWebKeySet {
	set := jose.JSONWebKeySet{}
	for _, key := range keys {
		set.Keys = append(set.Keys, key.Public())
	}
	return set
}

// Issuer is the claim iss of the tokens.
func (i *Issuer) Issuer() string { return i.URL + "/issuer" }

// Publish adds a key.
func (i *Issuer) Publish(keys ...jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, keys...)
}

// Keys are those that are published.
func (i *Issuer) Keys() []jose.JSONWebKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[:len(i.keys):len(i.keys)]
}

// Roots verify the certificate that the documents are served with.
func (i *Issuer) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.Certificate())
	return pool
}

// Claims are those of a token that is good for ten minutes from now on.
func (i *Issuer) Claims(subject, audience string) map[string]any {
	now := time.Now().Unix()
	return map[string]any{"iss": i.Issuer(), "sub": subject, "aud": []string{audience}, "iat": now, "nbf": now, "exp": now + 600}
}

// Sign makes a token with one of the keys.
func (i *Issuer) Sign(t testing.TB, key int, claims map[string]any) string {
	t.Helper()
	return SignToken(t, i.Keys()[key], claims)
}

// Trust is a trust policy of the provider for one subject and audience of its
// tokens.
func Trust(provider, subject, audience string) string {
	_, bare, _ := strings.Cut(provider, ":oidc-provider/")
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"` + provider + `"},
		"Condition":{"StringEquals":{"` + bare + `:sub":"` + subject + `","` + bare + `:aud":"` + audience + `"}}}]}`
}
