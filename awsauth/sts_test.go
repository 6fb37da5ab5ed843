package awsauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// systemCA signs what the tests take for public endpoints: TestMain makes it
// the system's only root.
var systemCA *authority

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "awsauth")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	systemCA = newAuthority()
	file := filepath.Join(dir, "system.pem")
	if err := os.WriteFile(file, []byte(systemCA.pem), 0o600); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"SSL_CERT_FILE": file, "SSL_CERT_DIR": filepath.Join(dir, "none")} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// authority is a certificate authority.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         string
}

func newAuthority() *authority {
	key := newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority " + fmt.Sprint(key.X)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return &authority{
		certificate: certificate, key: key,
		pem: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
	}
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// server is a serving certificate for 127.0.0.1.
func (a *authority) server() tls.Certificate {
	key := newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// request is what the fake STS was asked.
type request struct {
	Action, Role, Session, Token string
	// SignedBy is KEY/REGION of the signature.
	SignedBy string
}

// stsServer is an STS that believes everything and counts.
type stsServer struct {
	*httptest.Server
	ca string
	// arrived gets a value for each request while the server is held.
	arrived chan struct{}

	mu       sync.Mutex
	seen     []request
	refusal  string
	status   int
	released chan struct{}
}

func newSTS(t *testing.T) *stsServer { return newSTSOf(t, newAuthority()) }

func newSTSOf(t *testing.T, ca *authority) *stsServer {
	t.Helper()
	s := &stsServer{ca: ca.pem, arrived: make(chan struct{}, 16)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.server()}, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *stsServer) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.seen...)
}

func (s *stsServer) refuse(code string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal, s.status = code, status
}

// hold keeps answers back until the returned function is called.
func (s *stsServer) hold() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = make(chan struct{})
	return func() { close(s.released) }
}

func (s *stsServer) serve(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	released := s.released
	s.mu.Unlock()
	if released != nil {
		s.arrived <- struct{}{}
		<-released
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, request{
		Action: r.Form.Get("Action"), Role: r.Form.Get("RoleArn"), Session: r.Form.Get("RoleSessionName"),
		Token: r.Form.Get("WebIdentityToken"), SignedBy: signer(r.Header.Get("Authorization")),
	})
	w.Header().Set("Content-Type", "text/xml")
	if s.refusal != "" {
		w.WriteHeader(s.status)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>no</Message></Error></ErrorResponse>`,
			s.refusal)
		return
	}
	fmt.Fprint(w, answer(r.Form.Get("Action"), len(s.seen)))
}

// answer is a success; the credentials hold an hour by the tests' clock.
func answer(action string, n int) string {
	return fmt.Sprintf(`<%[1]sResponse><%[1]sResult><Account>123456789012</Account><Credentials>
<AccessKeyId>ASIA%[2]d</AccessKeyId><SecretAccessKey>secret-%[2]d</SecretAccessKey>
<SessionToken>session-%[2]d</SessionToken><Expiration>2026-01-01T%[3]d:00:00Z</Expiration>
</Credentials></%[1]sResult></%[1]sResponse>`, action, n, 12+n)
}

// signer is KEY/REGION of an Authorization header, empty for none.
func signer(authorization string) string {
	_, scope, ok := strings.Cut(authorization, "Credential=")
	if !ok {
		return ""
	}
	parts := strings.Split(scope, "/")
	return parts[0] + "/" + parts[2]
}
