// Package awstest is what tests share that ask the local AWS with the SDK and
// with tokens.
package awstest

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// PlainBodies is a transport for SDK clients that make each call once. The
// bodies of the SDK's requests have a WriteTo that answers io.EOF once the body
// is closed, which the SDK does when the answer begins: a server as near as the
// local AWS is quick enough that the transport then breaks the connection.
func PlainBodies(next http.RoundTripper) http.RoundTripper { return plainBodies{next} }

type plainBodies struct{ next http.RoundTripper }

func (p plainBodies) RoundTrip(request *http.Request) (*http.Response, error) {
	plain := *request
	if request.Body != nil && request.Body != http.NoBody {
		plain.Body = struct{ io.ReadCloser }{request.Body}
	}
	return p.next.RoundTrip(&plain)
}

// Isolate keeps the machine's own AWS configuration out of a test.
func Isolate(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			must.Do(t, os.Unsetenv(name))
		}
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", nowhere)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
}

// SignToken makes a token of claims with a key, by the key's algorithm.
func SignToken(t testing.TB, key jose.JSONWebKey, claims map[string]any) string {
	t.Helper()
	text := must.Get(json.Marshal(claims))(t)
	return SignText(t, key, string(text))
}

// SignText makes a token of claims as they are written.
func SignText(t testing.TB, key jose.JSONWebKey, claims string) string {
	t.Helper()
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key}, nil))(t)
	signed := must.Get(signer.Sign([]byte(claims)))(t)
	token := must.Get(signed.CompactSerialize())(t)
	return token
}
