package oidc

import (
	"context"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // a thumbprint is SHA-1 by definition, it is compared and not trusted for signatures
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// fetchTimeout is for both documents together.
	fetchTimeout = 5 * time.Second
	maxBody      = 1 << 20
	maxHeader    = 64 << 10
	maxRedirects = 3
	// maxKeys is how many keys of each type a provider may have. IAM: "Quotas
	// for OpenID Connect identity providers".
	maxKeys = 100
	// minModulus is how many bits an RSA key has (RFC 7518, 3.3). The library takes
	// none of more than 4096.
	minModulus = 2048
)

var errCertificate = errors.New("the certificate is not trusted")

// fetcher gets one provider's documents.
type fetcher struct {
	roots          []*x509.CertPool
	allowPlainHTTP bool
	own            Own
	proxy          func(*http.Request) (*url.URL, error)
}

// keys fetches the discovery document at issuer, and the keys it points to.
func (f *fetcher) keys(ctx context.Context, issuer string, thumbprints []string) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	client := f.client(thumbprints)
	discovery, err := f.get(ctx, client, issuer+"/.well-known/openid-configuration")
	if err != nil {
		return nil, err
	}
	if said, _ := text(discovery["issuer"]); said != issuer {
		return nil, retrieval("the discovery document of %s says issuer %q", issuer, said)
	}
	address, _ := text(discovery["jwks_uri"])
	set, err := f.get(ctx, client, address)
	if err != nil {
		return nil, err
	}
	return readKeys(set)
}

// ReadKeys reads a JWKS as Providers reads the ones that it fetches.
func ReadKeys(document []byte) ([]jose.JSONWebKey, error) {
	set, err := readObject(document)
	if err != nil {
		return nil, retrieval("the key set: %v", err)
	}
	return readKeys(set)
}

// readKeys takes the RSA and EC keys that are good for signatures; others, which
// STS has no use for, are left out, and so are those that do not parse.
func readKeys(set map[string]json.RawMessage) ([]jose.JSONWebKey, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(set["keys"], &raw); err != nil {
		return nil, retrieval("the key set has no list of keys: %v", err)
	}
	keys, count := []jose.JSONWebKey{}, map[string]int{}
	for _, one := range raw {
		members, err := readObject(one)
		kind, _ := text(members["kty"])
		var key jose.JSONWebKey
		if err != nil || kind != "RSA" && kind != "EC" || key.UnmarshalJSON(one) != nil || !signs(key, members["key_ops"]) {
			continue
		}
		count[kind]++
		keys = append(keys, key)
	}
	for kind, n := range count {
		if n > maxKeys {
			return nil, retrieval("there are %d keys of type %s, at most %d may be", n, kind, maxKeys)
		}
	}
	if len(keys) == 0 {
		return nil, retrieval("there is no usable RSA or EC key among %d", len(raw))
	}
	return keys, nil
}

// signs says whether a key is one that signatures are verified with: public, not
// meant for encryption (RFC 7517, 4.2 and 4.3), and of a size that is safe.
func signs(key jose.JSONWebKey, operations json.RawMessage) bool {
	if public, is := key.Key.(*rsa.PublicKey); is && public.N.BitLen() < minModulus {
		return false
	}
	meant := []string{"verify"}
	if operations != nil && json.Unmarshal(operations, &meant) != nil {
		return false
	}
	return key.IsPublic() && (key.Use == "" || key.Use == "sig") && slices.Contains(meant, "verify")
}

// get fetches a JSON object.
func (f *fetcher) get(ctx context.Context, client *http.Client, address string) (map[string]json.RawMessage, error) {
	parsed, err := url.Parse(address)
	if err != nil || !f.mayAsk(parsed) {
		return nil, retrieval("%q is no https URL", address)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, retrieval("%q is no URL", address)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, f.classify(address, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if closing := response.Body.Close(); err == nil {
		err = closing
	}
	switch {
	case err != nil:
		return nil, &Error{Kind: Unreachable, Detail: fmt.Sprintf("reading %s: %v", address, err)}
	case response.StatusCode != http.StatusOK:
		return nil, retrieval("%s answered %s", address, response.Status)
	case len(body) > maxBody:
		return nil, retrieval("%s is longer than %d bytes", address, maxBody)
	}
	members, err := readObject(body)
	if err != nil {
		return nil, retrieval("%s: %v", address, err)
	}
	return members, nil
}

// classify tells a certificate that nobody trusts and a document that is not
// served from a network that fails.
func (f *fetcher) classify(address string, err error) error {
	var problem *Error
	if errors.As(err, &problem) {
		return problem
	}
	detail := fmt.Sprintf("fetching %s: %v", address, err)
	if errors.Is(err, errCertificate) {
		return &Error{Kind: Untrusted, Detail: detail}
	}
	return &Error{Kind: Unreachable, Detail: detail}
}

func (f *fetcher) mayAsk(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && f.allowPlainHTTP)
}

func (f *fetcher) client(thumbprints []string) *http.Client {
	return &http.Client{
		Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
			if f.own.serves(request) {
				return f.own.answer(request)
			}
			return f.roundTrip(request, func(chain []*x509.Certificate, host string) error {
				return verifyChain(chain, host, f.roots, thumbprints)
			})
		}),
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return retrieval("%s redirects more than %d times", via[0].URL, maxRedirects)
			}
			if !f.mayAsk(request.URL) {
				return retrieval("%s redirects to %s, which is no https URL", via[0].URL, request.URL)
			}
			return nil
		},
	}
}

// roundTripper is a function that is an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls it.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// verifier judges the chain that a host shows.
type verifier func(chain []*x509.Certificate, host string) error

// roundTrip asks a host, directly or through a proxy. The host's
// chain is verified by a function, against each of the pools and the pins, which
// the standard check cannot. A proxy that is itself asked over TLS has to show a
// chain of the same pools; pins are the host's.
func (f *fetcher) roundTrip(request *http.Request, verify verifier) (*http.Response, error) {
	proxy, err := f.proxy(request)
	if err != nil {
		return nil, err
	}
	first := verify
	if proxy != nil {
		first = func(chain []*x509.Certificate, host string) error { return verifyChain(chain, host, f.roots, nil) }
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyURL(proxy),
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeader,
		// This is for the host behind a proxy: what is dialed is verified below.
		TLSClientConfig: clientConfig(request.URL.Hostname(), verify),
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dial(ctx, network, address, first)
		},
	}
	return transport.RoundTrip(request)
}

// clientConfig lets a function verify the chain of a server. Its clock is the real
// one: moving the server's clock must not make other people's certificates invalid.
func clientConfig(host string, verify verifier) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         host,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies
		VerifyConnection:   func(state tls.ConnectionState) error { return verify(state.PeerCertificates, host) },
	}
}

// dial connects over TLS.
func dial(ctx context.Context, network, address string, verify verifier) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dialing %q: %w", address, err)
	}
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("dialing %q: %w", address, err)
	}
	secured := tls.Client(plain, clientConfig(host, verify))
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return secured, nil
}

// verifyChain accepts a chain that leads to one of the pools, or to a
// certificate in it that is pinned by its thumbprint. The name must fit always.
func verifyChain(chain []*x509.Certificate, name string, roots []*x509.CertPool, thumbprints []string) error {
	if len(chain) == 0 {
		return errCertificate
	}
	intermediates, pinned := x509.NewCertPool(), x509.NewCertPool()
	for i, certificate := range chain {
		if i > 0 {
			intermediates.AddCert(certificate)
		}
		if slices.Contains(thumbprints, thumbprint(certificate)) {
			pinned.AddCert(certificate)
		}
	}
	var failure error
	for _, pool := range append(slices.Clone(roots), pinned) {
		_, err := chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: pool, Intermediates: intermediates})
		if err == nil {
			return nil
		}
		failure = err
	}
	return fmt.Errorf("%w: %w", errCertificate, failure)
}

// thumbprint is a certificate's, as IAM writes it.
func thumbprint(certificate *x509.Certificate) string {
	sum := sha1.Sum(certificate.Raw) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}
