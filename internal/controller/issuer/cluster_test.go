package issuer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// fleet are servers that all show the certificate of an API server: it holds
// the Service's name and no address.
type fleet struct {
	certificate tls.Certificate
	ca          []byte
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"kubernetes.default.svc"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	return &fleet{
		certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		ca:          pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
}

// serve starts a server that shows keys, and signs with the key of that name. It
// returns the server's port.
func (f *fleet) serve(t *testing.T, status int, keys string) int32 {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openid/v1/jwks", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(keys))
	})
	mux.HandleFunc("POST /api/v1/namespaces/ns/serviceaccounts/publisher/token", func(w http.ResponseWriter, _ *http.Request) {
		part := base64.RawURLEncoding.EncodeToString
		token := part(fmt.Appendf(nil, `{"kid":%q}`, keys)) + "." + part([]byte(`{"iss":"https://issuer.example.org"}`)) + ".signature"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","status":{"token":%q}}`, token)
	})
	return f.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer operator" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// start starts a server and returns its port.
func (f *fleet) start(t *testing.T, handler http.Handler) int32 {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{f.certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return int32(server.Listener.Addr().(*net.TCPAddr).Port)
}

// slice is an EndpointSlice of the Service kubernetes with one port.
func slice(name string, port int32, addresses ...string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name,
			Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"},
		},
		Endpoints: []discoveryv1.Endpoint{{Addresses: addresses}},
		Ports:     []discoveryv1.EndpointPort{{Port: &port}},
	}
}

func (f *fleet) cluster(t *testing.T, host string, slices ...client.Object) *issuer.Cluster {
	t.Helper()
	return &issuer.Cluster{
		Config: &rest.Config{Host: host, BearerToken: "operator", TLSClientConfig: rest.TLSClientConfig{CAData: f.ca}},
		Client: fake.NewClientBuilder().WithObjects(slices...).Build(),

		ServiceAccount: client.ObjectKey{Namespace: "ns", Name: "publisher"},
	}
}

func TestEachAPIServerIsAskedByItsOwnAddress(t *testing.T) {
	f := newFleet(t)
	first, lagging, locked := f.serve(t, http.StatusOK, "new"), f.serve(t, http.StatusOK, "old"), f.serve(t, http.StatusForbidden, "")
	other := slice("other", first, "127.0.0.1")
	other.Labels[discoveryv1.LabelServiceName] = "another-service"
	cluster := f.cluster(t, "https://unused.example.com",
		slice("a", first, "127.0.0.1"), slice("b", lagging, "127.0.0.1"), slice("c", locked, "127.0.0.1"),
		slice("a-again", first, "127.0.0.1"), other)
	seen, tokens := cluster.Observe(t.Context(), v1alpha1.KeySource{Source: v1alpha1.KeySourceAPIServer})
	got := map[string]string{}
	for i, server := range seen.APIServers {
		got[server.Address] = string(server.JWKS) + " " + server.Token.KeyID
		isLocked := server.Address == at(locked)
		if (server.Error != "") != isLocked || (server.Token.Error != "") != isLocked || (tokens[i] == "") != isLocked {
			t.Errorf("%s: errors %q and %q, a token %t", server.Address, server.Error, server.Token.Error, tokens[i] != "")
		}
	}
	want := map[string]string{at(first): "new new", at(lagging): "old old", at(locked): " "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
}

func at(port int32) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))) }

func TestAnAPIServerWithAnotherCertificateIsNotBelieved(t *testing.T) {
	f, stranger := newFleet(t), newFleet(t)
	cluster := f.cluster(t, "https://unused.example.com", slice("a", stranger.serve(t, http.StatusOK, "keys"), "127.0.0.1"))
	seen, _ := cluster.Observe(t.Context(), v1alpha1.KeySource{Source: v1alpha1.KeySourceAPIServer})
	if len(seen.APIServers) != 1 || seen.APIServers[0].Error == "" || seen.APIServers[0].JWKS != nil {
		t.Errorf("saw %+v, expected one server with an error and no keys", seen.APIServers)
	}
}

func TestWithoutAddressesTheClientsOwnIsAsked(t *testing.T) {
	f := newFleet(t)
	port := f.serve(t, http.StatusOK, "keys")
	cluster := f.cluster(t, "https://"+at(port), slice("empty", port))
	cluster.Config.ServerName = "kubernetes.default.svc"
	seen, _ := cluster.Observe(t.Context(), v1alpha1.KeySource{Source: v1alpha1.KeySourceAPIServer})
	if len(seen.APIServers) != 1 || string(seen.APIServers[0].JWKS) != "keys" {
		t.Errorf("saw %+v, expected the client's own server", seen.APIServers)
	}
}

func TestKeyConfigMapIsReadByName(t *testing.T) {
	f := newFleet(t)
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: map[string]string{"a": "b"}}
	cluster := f.cluster(t, "https://unused.example.com", stored, slice("a", f.serve(t, http.StatusOK, "one"), "127.0.0.1"))
	source := v1alpha1.KeySource{Source: v1alpha1.KeySourceConfigMap, ConfigMap: &v1alpha1.ConfigMapReference{Namespace: "ns", Name: "certs"}}
	seen, _ := cluster.Observe(t.Context(), source)
	if seen.ConfigMap == nil || seen.ConfigMap.Data["a"] != "b" || len(seen.APIServers) != 1 || seen.APIServers[0].JWKS != nil || seen.APIServers[0].Token.KeyID != "one" {
		t.Errorf("saw %+v, expected the ConfigMap, and a token", seen)
	}
	source.ConfigMap.Name = "elsewhere"
	if seen, _ = cluster.Observe(t.Context(), source); seen.ConfigMap == nil || !seen.ConfigMap.Missing {
		t.Errorf("saw %+v, expected it missing", seen.ConfigMap)
	}
}
