package catalogd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

const (
	connectTimeout = 10 * time.Second
	headerTimeout  = 30 * time.Second
	longestHeaders = 64 << 10
)

// NewClient is a client for New. With a file of PEM certificates, which is catalogd's own CA,
// only that is trusted; without, the CAs of the system. It has time-outs for connecting and for
// the head of an answer, none for the body.
func NewClient(authority string) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pool, err := authorities(authority)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authority: %w", err)
		}
		config.RootCAs = pool
	}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSClientConfig: config, TLSHandshakeTimeout: connectTimeout, ForceAttemptHTTP2: true,
		ResponseHeaderTimeout: headerTimeout, MaxResponseHeaderBytes: longestHeaders,
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 2, DisableCompression: true,
	}}, nil
}

func authorities(name string) (*x509.CertPool, error) {
	const most = 1 << 20
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if len(text) > most || !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM, or more than 1 MiB, expected the certificate of the CA that signed catalogd's", model.Quoted(name))
	}
	return pool, nil
}

// sameServer lets a server send a client to another path of its own, or to TLS.
func sameServer(next *http.Request, before []*http.Request) error {
	const most = 5
	from := before[len(before)-1].URL
	switch {
	case len(before) >= most:
		return errors.New("the server redirects again and again; check the URL")
	case next.URL.Host != from.Host:
		return fmt.Errorf("the server redirects to another host, %s: it was not followed; if that is right, name it", model.Quoted(next.URL.Host))
	case from.Scheme == "https" && next.URL.Scheme != "https":
		return errors.New("the server redirects from https to http: it was not followed")
	}
	return nil
}

// noRedirect is for requests that carry somebody's credentials at an API server: a service
// behind it must not choose what these read.
func noRedirect(*http.Request, []*http.Request) error {
	return errors.New("the service redirects: through an API server that is not followed")
}
