// Package oidc signs tokens that a local AWS can verify, where no cluster does it.
package oidc

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // AWS's thumbprints are SHA-1
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Issuer signs tokens and publishes its key over TLS, with a certificate that
// the provider's thumbprint makes trusted.
type Issuer struct {
	// URL is the issuer's.
	URL         string
	certificate []byte
	key         jose.JSONWebKey
	server      *http.Server
}

// New makes an issuer on 127.0.0.1, which serves until Close.
func New() (*Issuer, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}},
	})
	if err != nil {
		return nil, err
	}
	one := &Issuer{
		URL: "https://" + listener.Addr().String(), certificate: certificate,
		key: jose.JSONWebKey{Key: private, KeyID: "one", Algorithm: "RS256"},
	}
	handler, err := one.documents()
	if err != nil {
		return nil, err
	}
	one.server = &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() { _ = one.server.Serve(listener) }() // it ends with Close
	return one, nil
}

func (i *Issuer) documents() (http.Handler, error) {
	mux := http.NewServeMux()
	for path, document := range map[string]any{
		"/.well-known/openid-configuration": map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"},
		"/keys":                             jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.key.Public()}},
	} {
		text, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })
	}
	return mux, nil
}

// Close ends it.
func (i *Issuer) Close() { _ = i.server.Close() }

// Bare is the issuer's URL without its scheme.
func (i *Issuer) Bare() string { return strings.TrimPrefix(i.URL, "https://") }

// Thumbprint is that of its certificate, as IAM wants it.
func (i *Issuer) Thumbprint() string {
	sum := sha1.Sum(i.certificate) //nolint:gosec // AWS's thumbprints are SHA-1
	return hex.EncodeToString(sum[:])
}

// Token is one of a subject, for STS and an hour.
func (i *Issuer) Token(subject string) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, nil)
	if err != nil {
		return "", err
	}
	now := time.Now()
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: i.URL, Subject: subject, Audience: jwt.Audience{"sts.amazonaws.com"},
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(time.Hour)),
	}).Serialize()
}
