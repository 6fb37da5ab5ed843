package oidc

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"strconv"
)

// Own are hosts under AWS's names that the server plays itself: what is asked of
// them never leaves the process. The zero value has none.
type Own struct {
	// Serves says whether a request is for one of them.
	Serves func(*http.Request) bool
	// Handler answers it.
	Handler http.Handler
	// Authority is the certificate that vouches for them.
	Authority *x509.Certificate
}

func (o *Own) serves(r *http.Request) bool { return o.Serves != nil && o.Serves(r) }

// answer asks the handler as a client of the network would. The handler may take
// longer than the client waits.
func (o *Own) answer(r *http.Request) (*http.Response, error) {
	asked := r.Clone(r.Context())
	asked.Body, asked.RequestURI, asked.Host = http.NoBody, r.URL.RequestURI(), r.URL.Host
	if r.URL.Scheme == "https" {
		asked.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: r.URL.Hostname()}
	}
	w := &answer{header: http.Header{}, status: http.StatusOK}
	o.Handler.ServeHTTP(w, asked)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: -1, Request: r,
	}, nil
}

// answer is a response in memory. Of a body that is too long, it keeps enough to
// show that.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is that of an http.ResponseWriter, and so are the others.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader notes the status.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write keeps the beginning.
func (a *answer) Write(text []byte) (int, error) {
	a.body.Write(text[:min(len(text), maxBody+1-a.body.Len())])
	return len(text), nil
}
