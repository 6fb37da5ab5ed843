package testkit

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
)

// StartIssuer starts an API server whose issuer's documents are where its tokens
// say, as in the bucket of a cluster, and returns the roots of the certificate
// that they are served with.
func StartIssuer(t testing.TB, flags ...string) (*APIServer, *x509.CertPool) {
	t.Helper()
	var server *APIServer
	front := ServeIssuer(t, func(ctx context.Context) ([]byte, error) { return server.Keys(ctx) })
	server = StartAPIServer(t, front.URL, flags...)
	roots := x509.NewCertPool()
	roots.AddCert(front.Certificate())
	return server, roots
}

// ServeIssuer publishes a set of keys as an issuer's bucket does.
func ServeIssuer(t testing.TB, keys func(context.Context) ([]byte, error)) *httptest.Server {
	t.Helper()
	return ServeIssuerAt(t, "", keys)
}

// ServeIssuerAt does so for an issuer that is the server's URL with a path. AKS has one that ends with
// a slash.
func ServeIssuerAt(t testing.TB, path string, keys func(context.Context) ([]byte, error)) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	front := httptest.NewTLSServer(mux)
	t.Cleanup(front.Close)
	mux.HandleFunc("GET "+strings.TrimSuffix(path, "/")+"/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": front.URL + path, "jwks_uri": front.URL + "/keys.json"})
	})
	mux.HandleFunc("GET /keys.json", func(w http.ResponseWriter, r *http.Request) {
		published, err := keys(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_, _ = w.Write(published)
	})
	return front
}

// Issuer is the URL that the API server's tokens name.
func (s *APIServer) Issuer() string { return s.issuer }

// Keys is the set of keys by which the API server's tokens are verified.
func (s *APIServer) Keys(ctx context.Context) ([]byte, error) {
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return nil, err
	}
	return client.Discovery().RESTClient().Get().AbsPath("/openid/v1/jwks").DoRaw(ctx)
}
