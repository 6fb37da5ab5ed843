package capacity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// front stands before the local AWS with a certificate of its own. It sees every
// request, and can break its connection or change its answer.
type front struct {
	*httptest.Server
	next http.Handler

	mu     sync.Mutex
	shown  tls.Certificate
	scopes map[string]int
	// calls are the requests that are no repetition of the SDK's.
	calls  map[string]int
	broken bool
	change func(service, body string) string
}

// scope is where a request is signed for: REGION/SERVICE.
var scope = regexp.MustCompile(`Credential=[^/]+/[0-9]+/([^/]+/[^/]+)/aws4_request`)

// startFront starts one, and returns its certificate as a bundle.
func startFront(t *testing.T, next http.Handler) (*front, []byte) {
	t.Helper()
	f := &front{next: next, scopes: map[string]int{}, calls: map[string]int{}}
	f.Server = httptest.NewUnstartedServer(f)
	f.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{f.shown}}, nil
	}}
	f.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that trust no certificate are what is tested
	bundle := f.newCertificate(t)
	f.StartTLS()
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f, bundle
}

// newCertificate shows a new certificate from now on, which vouches for itself,
// and returns it.
func (f *front) newCertificate(t *testing.T) []byte {
	t.Helper()
	made, bundle := selfSigned(t)
	f.show(made)
	return bundle
}

func (f *front) show(certificate tls.Certificate) {
	f.mu.Lock()
	f.shown = certificate
	f.mu.Unlock()
	if f.Listener != nil && f.URL != "" {
		f.CloseClientConnections()
	}
}

// selfSigned is a certificate of this machine, and the same as a bundle.
func selfSigned(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// breakConnections makes every request's connection break, or not any more.
func (f *front) breakConnections(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = on
}

// changeAnswers changes the bodies of a service's answers; nil leaves them.
func (f *front) changeAnswers(change func(service, body string) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change = change
}

// signedFor are the scopes of all requests so far, with their number.
func (f *front) signedFor() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.scopes)
}

// asked is signedFor without requests that the SDK repeated: this server is so
// near that an answer can come before the SDK is ready for it.
func (f *front) asked() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.calls)
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	region, service := "", ""
	if found := scope.FindStringSubmatch(r.Header.Get("Authorization")); found != nil {
		region, service, _ = strings.Cut(found[1], "/")
	}
	f.mu.Lock()
	f.scopes[region+"/"+service]++
	if strings.HasPrefix(r.Header.Get("Amz-Sdk-Request"), "attempt=1;") {
		f.calls[region+"/"+service]++
	}
	broken, change := f.broken, f.change
	f.mu.Unlock()
	switch {
	case broken:
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = connection.Close()
		}
	case change != nil:
		said := httptest.NewRecorder()
		f.next.ServeHTTP(said, r)
		for name, values := range said.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(said.Code)
		_, _ = w.Write([]byte(change(service, said.Body.String())))
	default:
		f.next.ServeHTTP(w, r)
	}
}
