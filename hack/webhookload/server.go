package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tabard-dev/tabard/hack/measure"
)

// server is the process that is measured.
type server struct {
	url, metrics string
	process      *exec.Cmd
	said         bytes.Buffer
	roots        *x509.CertPool
	began        time.Time
	// listening is the time from its start to its first accepted connection.
	listening time.Duration
}

// start runs the webhook and waits until it listens.
func start(ctx context.Context, s settings, folder, kubeconfig string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	metricsPort, err := freePort()
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
	one := &server{url: "https://127.0.0.1:" + port, metrics: "http://127.0.0.1:" + metricsPort + "/metrics", roots: x509.NewCertPool()}
	one.roots.AppendCertsFromPEM(chain)
	one.process = exec.CommandContext(ctx, s.tabard, "webhook", "--bind-address=127.0.0.1", "--port="+port, "--metrics-port="+metricsPort,
		"--tls-cert="+chainFile, "--tls-key="+keyFile, "--kubeconfig="+kubeconfig, "--aws-default-region=us-west-2", "--sts-regional-endpoint")
	one.process.Stderr = &one.said
	one.began = time.Now()
	if err := one.process.Start(); err != nil {
		return nil, err
	}
	if err := one.waitListening(ctx, net.JoinHostPort("127.0.0.1", port)); err != nil {
		one.stop()
		return nil, err
	}
	return one, nil
}

func (s *server) waitListening(ctx context.Context, address string) error {
	for end := s.began.Add(time.Minute); time.Now().Before(end); <-time.After(time.Millisecond) {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			s.listening = time.Since(s.began)
			return connection.Close()
		}
	}
	return fmt.Errorf("the webhook does not listen: %s", s.said.String())
}

// waitInjected asks until a pod is injected.
func (s *server) waitInjected(ctx context.Context, client *http.Client, question []byte) error {
	var last error
	for end := s.began.Add(5 * time.Minute); time.Now().Before(end) && ctx.Err() == nil; <-time.After(5 * time.Millisecond) {
		answer, err := s.mutate(ctx, client, question)
		if err == nil && bytes.Contains(answer, []byte(`"patch"`)) {
			return nil
		}
		last = err
		if err == nil {
			return fmt.Errorf("the webhook answers %s, which is wrong", answer)
		}
	}
	return fmt.Errorf("the webhook does not inject: %w: %s", last, s.said.String())
}

// client keeps as many connections as there are clients.
func (s *server) client(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections, TLSClientConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
	}}
}

func (s *server) stop() {
	_ = s.process.Process.Kill() // it may have ended by itself
	_ = s.process.Wait()
}

// usage is what the process has taken so far.
type usage struct {
	measure.Process
	allocations float64
}

func (u usage) memory() string {
	const mega = 1 << 20
	return fmt.Sprintf("RssAnon %.1f MiB, RSS %.1f MiB, peak RSS %.1f MiB", float64(u.Anonymous)/mega, float64(u.Resident)/mega, float64(u.Peak)/mega)
}

func (s *server) usage() (usage, error) {
	process, err := measure.Of(s.process.Process.Pid)
	if err != nil {
		return usage{}, err
	}
	allocations, err := s.gauge("go_memstats_mallocs_total")
	return usage{process, allocations}, err
}
