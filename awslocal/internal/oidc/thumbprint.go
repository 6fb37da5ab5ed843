package oidc

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
)

var errSeen = errors.New("the certificates were seen")

// Thumbprint connects to an issuer's server, as fetching its documents does, and
// returns the thumbprint of the last certificate of its chain, the one closest to
// its authority. IAM pins it where a provider is registered without one. The chain
// is not verified: that is what the pin is for. So nothing is asked of the server.
func (p *Providers) Thumbprint(ctx context.Context, issuer string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer, http.NoBody)
	if err != nil || request.URL.Scheme != "https" || request.URL.Hostname() == "" {
		return "", fmt.Errorf("%q is no https URL of an issuer", issuer)
	}
	if p.fetcher.own.serves(request) {
		return thumbprint(p.fetcher.own.Authority), nil
	}
	var last *x509.Certificate
	response, err := p.fetcher.roundTrip(request, func(chain []*x509.Certificate, _ string) error {
		last = chain[len(chain)-1]
		return errSeen
	})
	if err == nil {
		return "", errors.Join(fmt.Errorf("%s shows no certificate", issuer), response.Body.Close())
	}
	if last == nil {
		return "", fmt.Errorf("connecting to %s: %w", issuer, err)
	}
	return thumbprint(last), nil
}
