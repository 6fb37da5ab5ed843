// Package oidc is STS's view of OpenID Connect providers: it reads tokens,
// fetches the providers' keys over TLS from where the tokens say, keeps them for
// a while as AWS does, and verifies signatures.
package oidc

import (
	"context"
	"crypto/x509"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// keep is how long fetched keys are used.
	keep = 5 * time.Minute
	// again is how often an unknown key ID may make them be fetched early.
	again = 30 * time.Second
)

// Options is what the providers' keys are fetched with.
type Options struct {
	// Roots are pools of trusted certificates; one is enough to trust a server.
	Roots []*x509.CertPool
	// AllowPlainHTTP takes issuers that start with http://.
	AllowPlainHTTP bool
	// Own answers for issuers that the server serves itself.
	Own Own
	// Now is the clock that ages the cache.
	Now func() time.Time
}

// Providers is safe for concurrent use; documents of one issuer are fetched by
// one caller at a time.
type Providers struct {
	fetcher fetcher
	now     func() time.Time

	mu      sync.Mutex
	issuers map[string]*issuer
}

type issuer struct {
	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time
	// forced is when an unknown key ID last made the keys be fetched.
	forced time.Time
}

// New returns providers of which nothing is known yet.
func New(options Options) *Providers {
	return &Providers{
		fetcher: fetcher{roots: options.Roots, allowPlainHTTP: options.AllowPlainHTTP, own: options.Own, proxy: http.ProxyFromEnvironment},
		now:     options.Now,
		issuers: map[string]*issuer{},
	}
}

// Reset forgets all fetched keys.
func (p *Providers) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.issuers = map[string]*issuer{}
}

// issuer keeps keys apart by the pins too: an account that trusts a server by a
// thumbprint must not make others trust it.
func (p *Providers) issuer(url string, thumbprints []string) *issuer {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := url + " " + strings.Join(thumbprints, " ")
	if p.issuers[name] == nil {
		p.issuers[name] = &issuer{}
	}
	return p.issuers[name]
}

// Verify checks the token's signature with the keys of its issuer. The
// thumbprints pin certificates where no root vouches for the server.
func (p *Providers) Verify(ctx context.Context, token *Token, thumbprints []string) error {
	one := p.issuer(token.Issuer, thumbprints)
	one.mu.Lock()
	defer one.mu.Unlock()
	now := p.now()
	if one.keys == nil || !within(now, one.fetched, keep) {
		if err := p.refresh(ctx, one, token.Issuer, thumbprints); err != nil {
			return err
		}
	} else if !token.hasKey(one.keys) && !within(now, one.forced, again) {
		one.forced = now
		if err := p.refresh(ctx, one, token.Issuer, thumbprints); err != nil {
			return err
		}
	}
	return token.verify(one.keys)
}

func (p *Providers) refresh(ctx context.Context, one *issuer, url string, thumbprints []string) error {
	keys, err := p.fetcher.keys(ctx, url, thumbprints)
	if err != nil {
		return err
	}
	one.keys, one.fetched = keys, p.now()
	return nil
}

// within says whether an instant lies less than a span before now; one after now
// does not: the clock has been set back, and the age is unknown.
func within(now, instant time.Time, span time.Duration) bool {
	age := now.Sub(instant)
	return age >= 0 && age < span
}
