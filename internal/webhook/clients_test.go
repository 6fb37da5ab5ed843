package webhook

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// clientPair signs a client certificate with a serving pair's key.
func clientPair(t *testing.T, chain, key []byte, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	authority := must.Get(tls.X509KeyPair(chain, key))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "kube-apiserver"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: farAway, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if change != nil {
		change(template)
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, authority.Leaf, authority.Leaf.PublicKey, authority.PrivateKey))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: authority.PrivateKey}
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	chain, key := pair(t, farAway)
	otherChain, otherKey := pair(t, farAway)
	file := filepath.Join(t.TempDir(), "ca.crt")
	must.Do(t, os.WriteFile(file, chain, 0o600))
	good := clientPair(t, chain, key, nil)
	tests := map[string]struct {
		shown    []tls.Certificate
		required bool
		fine     bool
	}{
		"a good one":                  {[]tls.Certificate{good}, true, true},
		"none, where none is needed":  {nil, false, true},
		"none, where one is required": {nil, true, false},
		"of another authority":        {[]tls.Certificate{clientPair(t, otherChain, otherKey, nil)}, false, false},
		"of another name":             {[]tls.Certificate{clientPair(t, chain, key, func(c *x509.Certificate) { c.Subject.CommonName = "kubelet" })}, false, false},
		"one that has ended":          {[]tls.Certificate{clientPair(t, chain, key, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })}, false, false},
		"one for servers":             {[]tls.Certificate{clientPair(t, chain, key, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })}, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(nil, fakeAccounts{}, newMetrics(), logr.Discard())
			must.Do(t, s.serving.load(chain, key))
			s.apply(Options{ClientNames: []string{"kube-apiserver"}, RequireClientCertificate: test.required}, nil)
			must.Do(t, s.clients.watchFile(t.Context(), file, s.log))
			if err := s.handshake(t, test.shown); (err == nil) != test.fine {
				t.Errorf("handshake: %v, want it to succeed: %t", err, test.fine)
			}
		})
	}
}

// handshake is what the server says of a client.
func (s *server) handshake(t *testing.T, shown []tls.Certificate) error {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	client := tls.Client(there, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, Certificates: shown}) //nolint:gosec // who the server is does not matter here
	go func() { _, _ = client.Read(make([]byte, 1)) }()                                                                   // it takes part
	return tls.Server(here, s.tls()).HandshakeContext(t.Context())
}
