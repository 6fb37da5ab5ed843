// Package standin is a stand-in for the endpoints at which Azure and Google Cloud exchange
// a cluster's tokens for theirs. It does what the SDKs of both clouds need for that, at the
// names that they call, and verifies tokens as the clouds do: by the documents that the
// issuer publishes. It is no model of what either cloud answers otherwise.
package standin

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Options are what the administrators of both clouds have set up.
type Options struct {
	Azure  Application
	Google Provider
	// Roots vouch for the issuers' servers.
	Roots *x509.CertPool
}

// Federation says for which tokens a cloud gives an identity.
type Federation struct{ Issuer, Subject, Audience string }

// Server is the stand-in. Several goroutines may use it.
type Server struct {
	options Options
	front   *httptest.Server
	issuers *http.Client

	mu      sync.Mutex
	holders map[string]string
}

// Start serves until the test ends.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: options.Roots, MinVersion: tls.VersionTLS12}}
	s := &Server{options: options, issuers: &http.Client{Transport: transport}, holders: map[string]string{}}
	mux := http.NewServeMux()
	s.serveAzure(mux)
	s.serveGoogle(mux)
	s.front = httptest.NewTLSServer(mux)
	t.Cleanup(func() {
		s.front.Close()
		transport.CloseIdleConnections()
	})
	return s
}

// Client finds the stand-in at every name, over TLS, and nothing else.
func (s *Server) Client() *http.Client {
	transport := s.front.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "example.com" // of the certificate that httptest has
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.front.Listener.Addr().String())
	}
	return &http.Client{Transport: transport}
}

// Holder says whom a cloud has given an access token: a client of Azure, a service account
// of Google Cloud. It is empty for a token that neither has given.
func (s *Server) Holder(access string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holders[access]
}

// give makes an access token.
func (s *Server) give(holder string) (access string) {
	access = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders[access] = holder
	return access
}

// life is that of access tokens.
const life = time.Hour

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
