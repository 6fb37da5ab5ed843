package awsauth

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net/http"
	"sync"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

const (
	envCABundle = "AWS_CA_BUNDLE"
	// lookAgain is how often the bundle's file is looked at.
	lookAgain = 10 * time.Second
)

// trustingClient is an HTTP client that trusts the system's roots and those of
// a bundle, and follows the bundle's changes. It is safe for concurrent use.
type trustingClient struct {
	bundle   string
	readFile func(string) ([]byte, error)
	now      func() time.Time

	mu      sync.Mutex
	looked  time.Time
	content []byte
	client  *awshttp.BuildableClient
}

func newTrustingClient(bundle string, readFile func(string) ([]byte, error), now func() time.Time) (*trustingClient, error) {
	t := &trustingClient{bundle: bundle, readFile: readFile, now: now, looked: now()}
	if bundle == "" {
		t.client = buildable(nil)
		return t, nil
	}
	content, err := readFile(bundle)
	if err != nil {
		return nil, &Error{Code: CodeBundleInvalid, cause: err, Message: fmt.Sprintf(
			"%s names %s, which cannot be read; name a PEM file or unset it", envCABundle, bundle)}
	}
	if err := t.trust(content); err != nil {
		return nil, err
	}
	return t, nil
}

// Do sends a request with the client of the bundle as it is now.
func (t *trustingClient) Do(request *http.Request) (*http.Response, error) {
	return t.current().Do(request)
}

// current returns the client, remade if the bundle's content changed. A bundle
// that has become unreadable or empty changes nothing: it is being replaced.
func (t *trustingClient) current() *awshttp.BuildableClient {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.bundle == "" || now.Sub(t.looked) < lookAgain {
		return t.client
	}
	t.looked = now
	if content, err := t.readFile(t.bundle); err == nil && !bytes.Equal(content, t.content) {
		_ = t.trust(content)
	}
	return t.client
}

// trust makes the client anew; on error everything stays as it was.
func (t *trustingClient) trust(content []byte) error {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(content) {
		return &Error{Code: CodeBundleInvalid, Message: fmt.Sprintf(
			"%s names %s, which holds no certificate; name a PEM file or unset it", envCABundle, t.bundle)}
	}
	t.content, t.client = content, buildable(roots)
	return nil
}

// buildable is the SDK's own client, which keeps the proxies of the
// environment and follows no redirect to elsewhere. Roots of nil are the
// system's.
func buildable(roots *x509.CertPool) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithTimeout(attemptTimeout).
		WithTransportOptions(func(transport *http.Transport) {
			transport.TLSClientConfig.RootCAs = roots
		})
}
