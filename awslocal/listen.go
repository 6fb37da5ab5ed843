package awslocal

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/endpoint"
	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 2 * time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// listeners are the open doors of a server.
type listeners struct {
	mu      sync.Mutex
	servers []*http.Server
	url     string
	plain   string
}

// Start listens on an address such as "127.0.0.1:0" with TLS, and returns; the
// server answers in the background until Close.
func (s *Server) Start(address string) error {
	certificates, err := newCertificates(s.authority, partition.Of(s.options.Region), s.hosts(address))
	if err != nil {
		return fmt.Errorf("awslocal: %w", err)
	}
	// These services of AWS speak HTTP/1.1 only.
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: certificates.get, NextProtos: []string{"http/1.1"},
		// An answer that fits comes as one record. The SDK for Go closes its
		// request's body when the head of the answer is there, and may thereby
		// break the connection before it has read the rest.
		DynamicRecordSizingDisabled: true,
	}
	found, err := s.listen(address, config)
	if err != nil {
		return err
	}
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	s.listener.url = "https://" + found
	return nil
}

// StartPlain is Start without TLS, for clients that cannot be given a
// certificate. Both may listen at once, on different addresses.
func (s *Server) StartPlain(address string) error {
	found, err := s.listen(address, nil)
	if err != nil {
		return err
	}
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	s.listener.plain = "http://" + found
	return nil
}

func (s *Server) listen(address string, config *tls.Config) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("awslocal: listening on %s: %w", address, err)
	}
	found, open := listener.Addr().String(), &connections{}
	listener = shedding{listener, open}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{
		Handler:           s.handler,
		TLSConfig:         config,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      bodyTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         open.track,
		ErrorLog:          slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelWarn),
	}
	s.serve(listener, server)
	return found, nil
}

// serve answers in the background until Close.
func (s *Server) serve(listener net.Listener, server *http.Server) {
	s.listener.mu.Lock()
	s.listener.servers = append(s.listener.servers, server)
	s.listener.mu.Unlock()
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.options.Logger.Error("the local AWS stopped answering", "address", listener.Addr().String(), "error", err)
		}
	}()
}

// hosts are the names of the certificate for clients that do not ask for another:
// addresses of this machine, and AWS's own names in the server's region and without
// a region.
func (s *Server) hosts(address string) []string {
	names := []string{"localhost", "127.0.0.1", "::1", "*.localhost", "*.s3.localhost"}
	names = append(names, endpoint.GlobalNames(partition.Of(s.options.Region))...)
	names = append(names, endpoint.Names(s.options.Region)...)
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && host != "" && (ip == nil || !ip.IsUnspecified()) {
		names = append(names, host)
	}
	return append(names, s.options.Hosts...)
}

// URL is where the server listens: with TLS if it does, else plain; empty before
// it was started.
func (s *Server) URL() string {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	if s.listener.url != "" {
		return s.listener.url
	}
	return s.listener.plain
}

// PlainURL is where the server listens without TLS, empty if nowhere.
func (s *Server) PlainURL() string {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	return s.listener.plain
}

// Close stops listening and waits for the calls under way until the context
// ends; then it breaks them off. Calls that a fault makes wait are answered at
// once.
func (s *Server) Close(ctx context.Context) error {
	s.faults.Hurry(true)
	defer s.faults.Hurry(false)
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	var failures []error
	for _, server := range s.listener.servers {
		if err := server.Shutdown(ctx); err != nil {
			failures = append(failures, fmt.Errorf("awslocal: stopping: %w", errors.Join(err, server.Close())))
		}
	}
	s.listener.servers, s.listener.url, s.listener.plain = nil, "", ""
	return errors.Join(failures...)
}
