package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tabard-dev/tabard/hack/load/measure"
)

// server is the process that is measured.
type server struct {
	url     string
	program *measure.Program
	roots   *x509.CertPool
	// listening is the time from its start to its first accepted connection.
	listening time.Duration
}

// start runs the webhook and waits until it listens.
func start(ctx context.Context, s settings, folder, kubeconfig string) (*server, error) {
	port, err := measure.Port()
	if err != nil {
		return nil, err
	}
	metricsPort, err := measure.Port()
	if err != nil {
		return nil, err
	}
	chain, key, err := certificate()
	if err != nil {
		return nil, err
	}
	chainFile, keyFile := filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	if err := os.WriteFile(chainFile, chain, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(keyFile, key, 0o600); err != nil {
		return nil, err
	}
	one := &server{url: "https://127.0.0.1:" + port, roots: x509.NewCertPool()}
	one.roots.AppendCertsFromPEM(chain)
	one.program, err = measure.Start(exec.CommandContext(ctx, s.tabard, "webhook", "--bind-address=127.0.0.1", "--port="+port, "--metrics-port="+metricsPort,
		"--tls-cert="+chainFile, "--tls-key="+keyFile, "--kubeconfig="+kubeconfig, "--aws-default-region=us-west-2", "--sts-regional-endpoint"))
	if err != nil {
		return nil, err
	}
	one.program.Metrics = "http://127.0.0.1:" + metricsPort + "/metrics"
	if err := one.program.Await(ctx, time.Minute, "the webhook listens", func() bool { return measure.Listens(ctx, port) }); err != nil {
		one.program.Stop()
		return nil, err
	}
	one.listening = time.Since(one.program.Began)
	return one, nil
}

// waitInjected asks until a pod is injected.
func (s *server) waitInjected(ctx context.Context, client *http.Client, question []byte) error {
	var answer []byte
	var err error
	waited := s.program.Await(ctx, 5*time.Minute, "a pod is injected", func() bool {
		answer, err = s.mutate(ctx, client, question)
		return err == nil
	})
	if waited != nil {
		return errors.Join(waited, err)
	}
	if !bytes.Contains(answer, []byte(`"patch"`)) {
		return fmt.Errorf("the webhook answers %s, which is wrong", answer)
	}
	return nil
}

// client keeps as many connections as there are clients.
func (s *server) client(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections, TLSClientConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
	}}
}
