package oidc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
)

// Thumbprint connects to an issuer's server and returns the thumbprint of the
// last certificate of its chain, the one closest to its authority. IAM pins it
// where a provider is registered without one. The chain is not verified: that is
// what the pin is for.
func (p *Providers) Thumbprint(ctx context.Context, issuer string) (string, error) {
	parsed, err := url.Parse(issuer)
	if err != nil || parsed.Hostname() == "" {
		return "", fmt.Errorf("%q is no URL of an issuer", issuer)
	}
	port := parsed.Port()
	if port == "" {
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}} //nolint:gosec // see above
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(parsed.Hostname(), port))
	if err != nil {
		return "", fmt.Errorf("connecting to %s: %w", issuer, err)
	}
	secured, ok := connection.(*tls.Conn)
	if !ok || len(secured.ConnectionState().PeerCertificates) == 0 {
		return "", errors.Join(fmt.Errorf("%s shows no certificate", issuer), connection.Close())
	}
	chain := secured.ConnectionState().PeerCertificates
	return thumbprint(chain[len(chain)-1]), secured.Close()
}
