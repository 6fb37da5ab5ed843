package awslocal

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// issuer signs tokens and publishes its key over TLS, with a certificate that
// the provider's thumbprint makes trusted.
type issuer struct {
	url         string
	certificate []byte
	key         jose.JSONWebKey
	server      *http.Server
}

func newIssuer() (*issuer, error) {
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
	one := &issuer{
		url: "https://" + listener.Addr().String(), certificate: certificate,
		key: jose.JSONWebKey{Key: private, KeyID: "one", Algorithm: "RS256"},
	}
	handler, err := one.documents()
	if err != nil {
		return nil, err
	}
	one.server = &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() { _ = one.server.Serve(listener) }() // it ends with close
	return one, nil
}

func (i *issuer) documents() (http.Handler, error) {
	mux := http.NewServeMux()
	for path, document := range map[string]any{
		"/.well-known/openid-configuration": map[string]any{"issuer": i.url, "jwks_uri": i.url + "/keys"},
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

func (i *issuer) close() { _ = i.server.Close() }

// bare is the issuer's URL without its scheme.
func (i *issuer) bare() string { return strings.TrimPrefix(i.url, "https://") }

func (i *issuer) token() (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, nil)
	if err != nil {
		return "", err
	}
	now := time.Now()
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: i.url, Subject: "system:serviceaccount:team-a:app", Audience: jwt.Audience{"sts.amazonaws.com"},
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(time.Hour)),
	}).Serialize()
}
