package webhook

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	core "github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// rotatingSecret is one in the middle of a rotation: it serves by an old
// authority as 127.0.0.1, and proves a new one as localhost.
func rotatingSecret(t *testing.T) map[string][]byte {
	t.Helper()
	var data map[string][]byte
	for _, step := range []core.Step{core.IssueAll{Names: "127.0.0.1"}, core.IssueAuthority{}, core.IssueProbe{Names: "localhost"}} {
		var err error
		if data, err = core.Apply(step, data, time.Now(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func secretObject(t *testing.T, data map[string][]byte) object {
	t.Helper()
	message := must.Get(opened(encode(t, &corev1.Secret{Data: data})))(t)
	return object{message: message}
}

// TestProbe asks a server, as API servers do, that trust the old authority, the
// new one, or both.
func TestProbe(t *testing.T) {
	t.Parallel()
	s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
	data := rotatingSecret(t)
	sink := secretSink{s.serving, s.log}
	must.Do(t, sink.put(secretObject(t, data)))
	ctx, cancel := context.WithCancel(t.Context())
	sockets := must.Get(listen(ctx, Options{BindAddress: "127.0.0.1", MetricsPort: -1}))(t)
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, sockets) }()
	_, port, _ := strings.Cut(sockets.secure.Addr().String(), ":")
	block, rest := pem.Decode(data["ca.crt"])
	fresh, old := pem.EncodeToMemory(block), rest
	block, _ = pem.Decode(data["probe.crt"])
	fingerprint := core.Fingerprint(block.Bytes)

	tests := map[string]struct {
		host, path string
		trusted    []byte
		// want is part of the answer, or of the error.
		want string
	}{
		"by its own name, the probe is by the new authority": {"localhost", "/probe", fresh, fingerprint},
		"who does not trust that one cannot ask":             {"localhost", "/probe", old, "unknown authority"},
		"all others are served by the old one":               {"127.0.0.1", "/mutate", old, "JSONPatch"},
		"so they do not need the new one":                    {"127.0.0.1", "/mutate", fresh, "unknown authority"},
		"nothing is proved by the serving certificate":       {"127.0.0.1", "/probe", old, "there is no probe certificate"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := askTLS(t, "https://"+test.host+":"+port+test.path, test.trusted); !strings.Contains(got, test.want) {
				t.Errorf("answer %q, want %q", got, test.want)
			}
		})
	}
	delete(data, "probe.crt")
	delete(data, "probe.key")
	must.Do(t, sink.put(secretObject(t, data)))
	if got := askTLS(t, "https://localhost:"+port+"/probe", fresh); !strings.Contains(got, "wanted to match localhost") {
		t.Errorf("after the rotation %q, want the serving certificate, which has another name", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// askTLS returns what a review is answered, with its patch decoded, or the error.
func askTLS(t *testing.T, url string, trusted []byte) string {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	defer client.CloseIdleConnections()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(reviewOf("v1", "shop", pod))))(t)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text := must.Get(io.ReadAll(response.Body))(t)
	var reply struct {
		Response struct {
			Allowed bool   `json:"allowed"`
			Patch   string `json:"patch"`
		} `json:"response"`
	}
	if json.Unmarshal(text, &reply) != nil || !reply.Response.Allowed {
		return string(text)
	}
	if strings.HasSuffix(url, "/probe") && !response.Close {
		t.Error("the connection is kept, so that the next question would prove nothing")
	}
	patch := must.Get(base64.StdEncoding.DecodeString(reply.Response.Patch))(t)
	return string(text) + string(patch)
}

// TestMountedFilesAreReloaded exchanges a link, as the kubelet does for a volume
// of a Secret or a ConfigMap.
func TestMountedFilesAreReloaded(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	mount := func(revision string, ends time.Time) (chain []byte) {
		t.Helper()
		chain, key := pair(t, ends)
		must.Do(t, os.Mkdir(filepath.Join(volume, revision), 0o700))
		for name, content := range map[string][]byte{"tls.crt": chain, "tls.key": key} {
			must.Do(t, os.WriteFile(filepath.Join(volume, revision, name), content, 0o600))
		}
		must.Do(t, os.Symlink(revision, filepath.Join(volume, "..data_tmp")))
		must.Do(t, os.Rename(filepath.Join(volume, "..data_tmp"), filepath.Join(volume, "..data")))
		return chain
	}
	first := mount("..2026_1", time.Now().Add(time.Hour))
	for _, name := range []string{"tls.crt", "tls.key"} {
		must.Do(t, os.Symlink(filepath.Join("..data", name), filepath.Join(volume, name)))
	}
	files := &certificateFiles{chain: filepath.Join(volume, "tls.crt"), key: filepath.Join(volume, "tls.key"), into: &certificate{}}
	served := func(want []byte) {
		t.Helper()
		must.Do(t, files.read())
		if got := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: files.into.current.Load().Certificate[0]}); string(got) != string(want) {
			t.Errorf("another certificate is served:\n%s\nwant\n%s", got, want)
		}
	}
	served(first)
	served(mount("..2026_2", time.Now().Add(2*time.Hour)))
}
