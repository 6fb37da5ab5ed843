package awslocal

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// tokenLifetime is what the kubelet asks for where a pod names no other.
	tokenLifetime = time.Hour
	keyID         = "1"
	keysPath      = "/openid/v1/jwks"
)

// Issuer signs tokens as a cluster's API server does for its ServiceAccounts, and
// publishes its discovery document and its key on 127.0.0.1. It is safe for
// concurrent use.
type Issuer struct {
	url    string
	signer jose.Signer
	now    func() time.Time
}

// StartIssuer starts an issuer for tests that have no cluster. The server fetches its
// documents without further settings; IAM knows it once CreateOpenIDConnectProvider
// registers its URL. It serves until the server's Close. Each call makes an issuer
// with a URL and a key of its own.
func (s *Server) StartIssuer() (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("awslocal: making the issuer's key: %w", err)
	}
	private := jose.JSONWebKey{Key: key, KeyID: keyID, Algorithm: string(jose.ES256), Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, nil)
	if err != nil {
		return nil, fmt.Errorf("awslocal: making the issuer's signer: %w", err)
	}
	certificate, err := s.authority.Issue([]string{"127.0.0.1"})
	if err != nil {
		return nil, fmt.Errorf("awslocal: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("awslocal: listening for the issuer: %w", err)
	}
	i := &Issuer{url: "https://" + listener.Addr().String(), signer: signer, now: s.clock.Now}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	s.serve(tls.NewListener(listener, config), &http.Server{
		Handler: i.documents(private.Public()), ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout,
	})
	return i, nil
}

func (i *Issuer) documents(key jose.JSONWebKey) http.Handler {
	mux := http.NewServeMux()
	for path, document := range map[string]any{
		// The fields of RFC 8414 that an API server writes.
		"GET /.well-known/openid-configuration": map[string]any{
			"issuer": i.url, "jwks_uri": i.url + keysPath, "response_types_supported": []string{"id_token"},
			"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{key.Algorithm},
		},
		"GET " + keysPath: jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(document) // the client is gone
		})
	}
	return mux
}

// URL is the issuer's, the claim iss of its tokens.
func (i *Issuer) URL() string { return i.url }

// Token signs a token of a ServiceAccount for one audience, such as
// sts.amazonaws.com. Its subject is system:serviceaccount:NAMESPACE:NAME. It is valid
// for an hour from now on, by the server's clock: Admin.AdvanceClock makes it expire.
func (i *Issuer) Token(namespace, serviceAccount, audience string) (string, error) {
	if i.signer == nil {
		return "", errors.New("awslocal: this issuer was not made by Server.StartIssuer")
	}
	if namespace == "" || serviceAccount == "" || audience == "" {
		return "", fmt.Errorf("awslocal: a token of namespace %q, ServiceAccount %q, audience %q: none of the three may be empty", namespace, serviceAccount, audience)
	}
	now := i.now()
	token, err := jwt.Signed(i.signer).Claims(jwt.Claims{
		Issuer: i.url, Subject: "system:serviceaccount:" + namespace + ":" + serviceAccount, Audience: jwt.Audience{audience},
		IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(tokenLifetime)),
	}).Claims(map[string]any{"kubernetes.io": map[string]any{
		"namespace": namespace, "serviceaccount": map[string]string{"name": serviceAccount},
	}}).Serialize()
	if err != nil {
		return "", fmt.Errorf("awslocal: signing a token: %w", err)
	}
	return token, nil
}

// Client is an HTTP client that trusts the server and its issuers, and no other host.
// SDKs take it: for Go it is the field HTTPClient of aws.Config.
func (s *Server) Client() *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CACertificate())
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
}
