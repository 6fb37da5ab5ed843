package issuer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
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
)

// fleet are servers that all show the certificate of an API server: it holds
// the Service's name and no address.
type fleet struct {
	certificate tls.Certificate
	ca          []byte
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"kubernetes.default.svc"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &fleet{
		certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		ca:          pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
}

// serve starts a server and returns its port.
func (f *fleet) serve(t *testing.T, status int, keys string) int32 {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := status
		if r.URL.Path != "/openid/v1/jwks" || r.Header.Get("Authorization") != "Bearer operator" {
			answer = http.StatusTeapot
		}
		w.WriteHeader(answer)
		_, _ = w.Write([]byte(keys))
	}))
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
	seen, _ := cluster.Observe(t.Context(), v1alpha1.KeySource{Source: v1alpha1.KeySourceAPIServer})
	got := map[string]string{}
	for _, server := range seen.APIServers {
		got[server.Address] = string(server.JWKS)
		if refused := server.Error != ""; refused != (server.Address == at(locked)) {
			t.Errorf("%s: error %q", server.Address, server.Error)
		}
	}
	want := map[string]string{at(first): "new", at(lagging): "old", at(locked): ""}
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
	cluster := f.cluster(t, "https://unused.example.com", stored)
	source := v1alpha1.KeySource{Source: v1alpha1.KeySourceConfigMap, ConfigMap: &v1alpha1.ConfigMapReference{Namespace: "ns", Name: "certs"}}
	seen, _ := cluster.Observe(t.Context(), source)
	if seen.ConfigMap == nil || seen.ConfigMap.Data["a"] != "b" || seen.APIServers != nil {
		t.Errorf("saw %+v, expected the ConfigMap only", seen)
	}
	source.ConfigMap.Name = "elsewhere"
	if seen, _ = cluster.Observe(t.Context(), source); seen.ConfigMap == nil || !seen.ConfigMap.Missing {
		t.Errorf("saw %+v, expected it missing", seen.ConfigMap)
	}
}
