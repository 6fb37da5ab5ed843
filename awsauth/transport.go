package awsauth

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/tabard-dev/tabard/awsauth/fault"
)

const (
	envCABundle = "AWS_CA_BUNDLE"
	// lookAgain is how often the bundle's file is looked at.
	lookAgain = 10 * time.Second
	// connectTimeout bounds the connection and the TLS handshake, each.
	connectTimeout = 5 * time.Second
	maxRedirects   = 3
)

// trustingClient is an HTTP client that trusts the system's roots, those of a
// bundle in a file and those of a bundle in the cluster. It follows the
// changes of both. It is safe for concurrent use.
type trustingClient struct {
	// file is the bundle's file, empty for none.
	file     string
	readFile func(string) ([]byte, error)
	now      func() time.Time

	mu     sync.Mutex
	looked time.Time
	// ofFile and given are the contents of both bundles.
	ofFile, given []byte
	client        *http.Client
}

func newTrustingClient(file string, readFile func(string) ([]byte, error), now func() time.Time) (*trustingClient, error) {
	t := &trustingClient{file: file, readFile: readFile, now: now, looked: now(), client: httpClient(nil)}
	if file == "" {
		return t, nil
	}
	content, err := readFile(file)
	if err != nil {
		return nil, &Error{Code: fault.CodeBundleInvalid, cause: err, Message: fmt.Sprintf(
			"%s names %s, which cannot be read; name a PEM file or unset it", envCABundle, file)}
	}
	if !t.trust(content, nil) {
		return nil, &Error{Code: fault.CodeBundleInvalid, Message: fmt.Sprintf(
			"%s names %s, which holds no certificate; name a PEM file or unset it", envCABundle, file)}
	}
	return t, nil
}

// Do sends a request with the client of the bundles as they are now.
func (t *trustingClient) Do(request *http.Request) (*http.Response, error) {
	return t.current().Do(withPlainBody(request))
}

// current returns the client, remade if the file's content changed. A file that
// has become unreadable or empty changes nothing: it is being replaced.
func (t *trustingClient) current() *http.Client {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.file == "" || now.Sub(t.looked) < lookAgain {
		return t.client
	}
	t.looked = now
	if content, err := t.readFile(t.file); err == nil && !bytes.Equal(content, t.ofFile) {
		t.trust(content, t.given)
	}
	return t.client
}

// give sets the cluster's bundle; nil is none. It says whether the bundle
// changed; one without a certificate is an *Error and changes nothing.
func (t *trustingClient) give(bundle []byte) (changed bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if (bundle == nil) == (t.given == nil) && bytes.Equal(bundle, t.given) {
		return false, nil
	}
	if !t.trust(t.ofFile, bundle) {
		return false, &Error{Code: fault.CodeBundleInvalid,
			Message: "failed to set the custom CA bundle: it holds no certificate; it must be PEM"}
	}
	return true, nil
}

// trust makes the client anew for two bundles, nil for none. If one of them
// holds no certificate then it says so, and everything stays as it was.
func (t *trustingClient) trust(ofFile, given []byte) bool {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, bundle := range [][]byte{ofFile, given} {
		if bundle != nil && !roots.AppendCertsFromPEM(bundle) {
			return false
		}
	}
	// What is under way ends by itself; what is idle would trust the old roots.
	t.client.CloseIdleConnections()
	t.ofFile, t.given, t.client = ofFile, given, httpClient(roots)
	return true
}

// close closes the idle connections. The client can still be used.
func (t *trustingClient) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.client.CloseIdleConnections()
}

// plainBodies is a client whose requests have plain bodies.
type plainBodies struct{ next aws.HTTPClient }

// Do sends a request.
func (p plainBodies) Do(request *http.Request) (*http.Response, error) {
	return p.next.Do(withPlainBody(request))
}

// withPlainBody hides that the body of an SDK's request has a WriteTo. That
// answers io.EOF once the body is closed, which the SDK does when the answer
// begins. If the transport then still looks whether the body is at its end, it
// takes that for a failure to write and breaks the connection under the answer:
// a call that AWS has already done is made again. A near server or a busy
// machine is enough for that.
func withPlainBody(request *http.Request) *http.Request {
	if request.Body == nil || request.Body == http.NoBody {
		return request
	}
	plain := *request
	plain.Body = struct{ io.ReadCloser }{request.Body}
	return &plain
}

// httpClient is a client with the transport of the SDK's own, which keeps the
// proxies of the environment. Like that it repeats a call only where the service
// says that method and body stay the same.
func httpClient(roots *x509.CertPool) *http.Client {
	return &http.Client{
		Timeout:   attemptTimeout,
		Transport: buildable(roots).GetTransport(),
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch r.Response.StatusCode {
			case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
				if len(via) < maxRedirects {
					return nil
				}
			}
			return http.ErrUseLastResponse
		},
	}
}

// buildable is the SDK's own client. Roots of nil are the system's.
func buildable(roots *x509.CertPool) *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithTimeout(attemptTimeout).
		WithDialerOptions(func(dialer *net.Dialer) { dialer.Timeout = connectTimeout }).
		WithTransportOptions(func(transport *http.Transport) {
			transport.TLSHandshakeTimeout = connectTimeout
			transport.TLSClientConfig.RootCAs = roots
		})
}
