package contract_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// issuer serves its two documents and signs tokens.
type issuer struct {
	server *httptest.Server
	key    jose.JSONWebKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: jose.JSONWebKey{Key: private, KeyID: "one", Algorithm: "ES256", Use: "sig"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.url(), "jwks_uri": i.url() + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}})
	})
	i.server = httptest.NewTLSServer(mux)
	t.Cleanup(i.server.Close)
	return i
}

func (i *issuer) url() string { return i.server.URL }

func (i *issuer) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.server.Certificate())
	return pool
}

// token is good at the given instant.
func (i *issuer) token(subject string, now time.Time) (string, error) {
	return i.sign(now, map[string]any{"sub": subject, "aud": []string{audience}})
}

// podToken is that of a pod for EKS, good at the given instant.
func (i *issuer) podToken(namespace, serviceAccount string, now time.Time) (string, error) {
	return i.sign(now, map[string]any{
		"sub": "system:serviceaccount:" + namespace + ":" + serviceAccount, "aud": []string{"pods.eks.amazonaws.com"},
		"kubernetes.io": map[string]any{
			"namespace":      namespace,
			"serviceaccount": map[string]string{"name": serviceAccount, "uid": "5a5a"},
			"pod":            map[string]string{"name": serviceAccount + "-7d9f", "uid": "b0b0"},
		},
	})
}

// sign adds the issuer and the times to the claims.
func (i *issuer) sign(now time.Time, claims map[string]any) (string, error) {
	claims["iss"], claims["iat"], claims["exp"] = i.url(), now.Unix(), now.Add(time.Hour).Unix()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: i.key}, nil)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
