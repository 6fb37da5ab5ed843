// Package testkit is what tests of several packages share: a real API server,
// and the wiring around it. Only tests import it.
package testkit

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/tabard-dev/tabard/internal/lab/port"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const adminToken = "testkit-administrator"

// APIServer is a Kubernetes API server with its etcd, for one test.
type APIServer struct {
	// Config reaches it as an administrator.
	Config *rest.Config

	dir, localkube string
	issuer         string
	// accepted are further issuers whose tokens it takes.
	accepted []string
	etcd     string
	port     int
	process  *Process
	// flags are more than every API server here has.
	flags []string
}

// StartAPIServer starts an API server whose tokens name the given issuer, and
// stops it at the end of the test. It takes the program from TABARD_LOCALKUBE. Flags
// are more than every API server here has.
func StartAPIServer(t testing.TB, issuer string, flags ...string) *APIServer {
	t.Helper()
	localkube := os.Getenv("TABARD_LOCALKUBE")
	if localkube == "" {
		t.Fatal("TABARD_LOCALKUBE is not set: run make test, or make localkube and set it to what that prints")
	}
	s := &APIServer{dir: t.TempDir(), localkube: localkube, issuer: issuer, port: FreePort(t), flags: flags}
	s.startEtcd(t)
	s.write(t, "tokens.csv", []byte(adminToken+",administrator,administrator,system:masters\n"))
	s.RotateKey(t)
	return s
}

// Etcd is the URL of its etcd.
func (s *APIServer) Etcd() string { return s.etcd }

// StartAnother starts one more API server of the same cluster, with more flags,
// and stops it at the end of the test.
func (s *APIServer) StartAnother(t testing.TB, flags ...string) *APIServer {
	t.Helper()
	return s.startBeside(t, &APIServer{issuer: s.issuer, flags: flags})
}

// StartAnotherFor is StartAnother for one whose tokens name the first issuer, and which
// accepts those that name any of them.
func (s *APIServer) StartAnotherFor(t testing.TB, issuers ...string) *APIServer {
	t.Helper()
	return s.startBeside(t, &APIServer{issuer: issuers[0], accepted: issuers[1:]})
}

func (s *APIServer) startBeside(t testing.TB, another *APIServer) *APIServer {
	t.Helper()
	another.dir, another.localkube, another.port, another.etcd = t.TempDir(), s.localkube, FreePort(t), s.etcd
	for _, name := range []string{"tokens.csv", "sa.key"} {
		content := must.Get(os.ReadFile(filepath.Join(s.dir, name)))(t)
		another.write(t, name, content)
	}
	another.startAPIServer(t)
	return another
}

// RotateKey gives the API server a new signing key, and no longer the old, by
// starting it anew at the same address.
func (s *APIServer) RotateKey(t testing.TB) {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	der := x509.MarshalPKCS1PrivateKey(key)
	s.write(t, "sa.key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der}))
	if s.process == nil {
		s.startAPIServer(t)
		return
	}
	s.process.Restart()
	s.waitReady(t)
}

// SetIssuers starts the API server anew at the same address: its tokens name the first
// issuer, and it accepts those that name any of them.
func (s *APIServer) SetIssuers(t testing.TB, issuers ...string) {
	t.Helper()
	s.process.Kill()
	s.issuer, s.accepted = issuers[0], issuers[1:]
	s.startAPIServer(t)
}

func (s *APIServer) startEtcd(t testing.TB) {
	t.Helper()
	client, peer := address(FreePort(t)), address(FreePort(t))
	s.etcd = client
	s.run(t, "etcd", "--data-dir", filepath.Join(s.dir, "etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
}

func (s *APIServer) startAPIServer(t testing.TB) {
	t.Helper()
	key := filepath.Join(s.dir, "sa.key")
	args := append([]string{"--etcd-servers", s.etcd, "--bind-address=127.0.0.1",
		"--secure-port", strconv.Itoa(s.port), "--cert-dir", s.certificates(),
		"--token-auth-file", filepath.Join(s.dir, "tokens.csv"), "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer", s.issuer, "--api-audiences=api",
		"--service-account-key-file", key, "--service-account-signing-key-file", key}, s.flags...)
	for _, issuer := range s.accepted {
		args = append(args, "--service-account-issuer", issuer)
	}
	s.process = s.run(t, "kube-apiserver", args...)
	s.waitReady(t)
}

// certificates is the folder in which the API server makes its own.
func (s *APIServer) certificates() string { return filepath.Join(s.dir, "certificates") }

// waitReady waits for the certificate and then for /readyz.
func (s *APIServer) waitReady(t testing.TB) {
	t.Helper()
	ca := filepath.Join(s.certificates(), "apiserver.crt")
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		s.Config = &rest.Config{
			Host: fmt.Sprintf("https://127.0.0.1:%d", s.port), BearerToken: adminToken, QPS: -1,
			TLSClientConfig: rest.TLSClientConfig{CAFile: ca},
		}
		err := ready(ctx, s.Config)
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("the API server is not ready: %v\n%s", err, s.process.Log())
		}
	}
}

func ready(ctx context.Context, config *rest.Config) error {
	// It is empty before it is written, and client-go would remember it so.
	if _, err := cert.NewPool(config.CAFile); err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz: %s", response.Status)
	}
	return nil
}

// run starts a component and stops it at the end of the test.
func (s *APIServer) run(t testing.TB, component string, args ...string) *Process {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), s.localkube, append([]string{component}, args...)...)
	// Half of what a short-lived API server costs is its start, and much of that the collection
	// of its garbage: a hundred MiB more of memory save a tenth of its time.
	command.Env = append(os.Environ(), "GOGC=400")
	return startUnshown(t, command)
}

func (s *APIServer) write(t testing.TB, name string, content []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(s.dir, name), content, 0o600))
}

// FreePort is a port of this machine on which nothing listens. No other test gets
// it before this one has ended.
func FreePort(t testing.TB) int {
	t.Helper()
	free, claim, err := port.Tests.Claim(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = claim.Close() })
	return free
}

func address(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }
