package oidc

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// intermediary is a proxy for TLS: it does with each connection what the test
// says.
type intermediary struct {
	url *url.URL

	mu   sync.Mutex
	with func(net.Conn, *bufio.Reader)
	// asked are the hosts that connections were asked for.
	asked []string
}

func newIntermediary(tb interface{ Fatal(...any) }, config *tls.Config) (*intermediary, net.Listener) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	scheme := "http"
	if config != nil {
		listener, scheme = tls.NewListener(listener, config), "https"
	}
	i := &intermediary{url: &url.URL{Scheme: scheme, Host: listener.Addr().String()}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go i.serve(conn)
		}
	}()
	return i, listener
}

func (i *intermediary) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	request, err := http.ReadRequest(reader)
	if err != nil {
		return
	}
	i.mu.Lock()
	i.asked = append(i.asked, request.Method+" "+request.Host)
	with := i.with
	i.mu.Unlock()
	with(conn, reader)
}

const established = "HTTP/1.1 200 OK\r\n\r\n"

// tunnel passes everything on.
func tunnel(ctx context.Context, address string) func(net.Conn, *bufio.Reader) {
	return func(conn net.Conn, reader *bufio.Reader) {
		target, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return
		}
		defer func() { _ = target.Close() }()
		_, _ = io.WriteString(conn, established)
		go func() { _, _ = io.Copy(target, reader) }()
		_, _ = io.Copy(conn, target)
	}
}

// environment is the proxy of this process's environment, which is read once.
var environment *intermediary

type broken struct{}

func (broken) Fatal(why ...any) { panic(fmt.Sprint(why...)) }

func TestMain(m *testing.M) {
	environment, _ = newIntermediary(broken{}, nil)
	if err := os.Setenv("HTTPS_PROXY", environment.url.String()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestProxyOfTheEnvironmentIsAskedAndTrustedForNothing(t *testing.T) {
	key := newKey(t)
	h := newHost(t, key)
	address := h.Listener.Addr().String()
	pool := x509.NewCertPool()
	pool.AddCert(h.Certificate())
	impostor := httptest.NewUnstartedServer(http.NotFoundHandler())
	const issuer = "https://example.com"
	h.discovery = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, issuer, issuer+"/keys")
	}
	other, err := tls.X509KeyPair(selfSigned(t, "example.com"))
	if err != nil {
		t.Fatal(err)
	}
	impostor.TLS = &tls.Config{Certificates: []tls.Certificate{other}}
	impostor.StartTLS()
	t.Cleanup(impostor.Close)
	cases := map[string]struct {
		roots  []*x509.CertPool
		pins   []string
		issuer string
		with   func(net.Conn, *bufio.Reader)
		want   Kind
	}{
		"a trusted authority":        {roots: []*x509.CertPool{x509.NewCertPool(), pool}, with: tunnel(t.Context(), address)},
		"a pin":                      {pins: []string{thumbprint(h.Certificate())}, with: tunnel(t.Context(), address)},
		"nobody vouches":             {with: tunnel(t.Context(), address), want: Untrusted},
		"the certificate of another": {roots: []*x509.CertPool{pool}, issuer: "https://elsewhere.example", with: tunnel(t.Context(), address), want: Untrusted},
		"it shows a certificate itself": {roots: []*x509.CertPool{pool}, pins: []string{thumbprint(h.Certificate())}, with: tunnel(t.Context(), impostor.Listener.Addr().String()),
			want: Untrusted},
		"it refuses": {roots: []*x509.CertPool{pool}, with: func(conn net.Conn, _ *bufio.Reader) {
			_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\n\r\n")
		}, want: Unreachable},
		"it never answers": {roots: []*x509.CertPool{pool}, with: func(conn net.Conn, reader *bufio.Reader) {
			_, _ = io.Copy(io.Discard, reader)
		}, want: Unreachable},
		"it answers and is silent": {roots: []*x509.CertPool{pool}, with: func(conn net.Conn, reader *bufio.Reader) {
			_, _ = io.WriteString(conn, established)
			_, _ = io.Copy(io.Discard, reader)
		}, want: Unreachable},
		"its header never ends": {roots: []*x509.CertPool{pool}, with: func(conn net.Conn, _ *bufio.Reader) {
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for sent := 0; err == nil && sent < 64<<20; sent += 1 << 20 {
				_, err = io.WriteString(conn, "X: "+strings.Repeat("x", 1<<20)+"\r\n")
			}
		}, want: Unreachable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			environment.mu.Lock()
			environment.with, environment.asked = c.with, nil
			environment.mu.Unlock()
			url := issuer
			if c.issuer != "" {
				url = c.issuer
			}
			patience := time.Minute
			if c.want == Unreachable {
				patience = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := New(Options{Roots: c.roots, Now: time.Now}).Verify(ctx, newToken(t, key, url), c.pins)
			if got := kind(err); got != c.want {
				t.Errorf("error %v of kind %d, want %d", err, got, c.want)
			}
			environment.mu.Lock()
			defer environment.mu.Unlock()
			if len(environment.asked) == 0 || environment.asked[0] != "CONNECT "+strings.TrimPrefix(url, "https://")+":443" {
				t.Errorf("the proxy was asked %q", environment.asked)
			}
		})
	}
}

func TestProxyOverTLSIsTrustedByTheSamePools(t *testing.T) {
	key := newKey(t)
	h := newHost(t, key)
	proxyPair, err := tls.X509KeyPair(selfSigned(t, "127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	proxy, listener := newIntermediary(t, &tls.Config{Certificates: []tls.Certificate{proxyPair}})
	t.Cleanup(func() { _ = listener.Close() })
	proxy.with = tunnel(t.Context(), h.Listener.Addr().String())
	ofProxy, ofHost := x509.NewCertPool(), x509.NewCertPool()
	ofProxy.AddCert(proxyPair.Leaf)
	ofHost.AddCert(h.Certificate())
	for name, c := range map[string]struct {
		roots []*x509.CertPool
		pins  []string
		want  Kind
	}{
		"both are trusted":           {roots: []*x509.CertPool{ofProxy, ofHost}},
		"the proxy, and a pin":       {roots: []*x509.CertPool{ofProxy}, pins: []string{thumbprint(h.Certificate())}},
		"the proxy alone":            {roots: []*x509.CertPool{ofProxy}, want: Untrusted},
		"the issuer alone":           {roots: []*x509.CertPool{ofHost}, want: Untrusted},
		"a pin is none of the proxy": {roots: []*x509.CertPool{ofHost}, pins: []string{thumbprint(proxyPair.Leaf)}, want: Untrusted},
	} {
		t.Run(name, func(t *testing.T) {
			providers := New(Options{Roots: c.roots, Now: time.Now})
			providers.fetcher.proxy = http.ProxyURL(proxy.url)
			if err := providers.Verify(t.Context(), newToken(t, key, h.URL), c.pins); kind(err) != c.want {
				t.Errorf("error %v, want kind %d", err, c.want)
			}
		})
	}
}

func TestThumbprintIsAskedThroughTheProxy(t *testing.T) {
	h := newHost(t, newKey(t))
	environment.mu.Lock()
	environment.with = tunnel(t.Context(), h.Listener.Addr().String())
	environment.mu.Unlock()
	providers := New(Options{Now: time.Now})
	for _, url := range []string{"https://issuer.example/path", h.URL} {
		if got, err := providers.Thumbprint(t.Context(), url); err != nil || got != thumbprint(h.Certificate()) {
			t.Errorf("the thumbprint of %s is %s, error %v", url, got, err)
		}
	}
	for _, url := range []string{"http://127.0.0.1:1", "https://127.0.0.1:1", "https://", "x"} {
		if got, err := providers.Thumbprint(t.Context(), url); err == nil {
			t.Errorf("%s has the thumbprint %s", url, got)
		}
	}
}
