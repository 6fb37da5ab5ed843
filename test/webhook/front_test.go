package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/webhook"
)

// front is what an API server asks. It passes on what some clouds' hooks ask, and
// lets all other pods pass as they are.
type front struct {
	address   string
	authority []byte
	// namespace is that of the servers behind.
	namespace string
	// dir has the certificate and its key, which the servers behind use, too.
	dir string

	mu     sync.Mutex
	target http.Handler
	clouds []string
	// asked are the clouds whose hooks have asked.
	asked []string
}

func startFront(t *testing.T, namespace string) *front {
	t.Helper()
	f := &front{namespace: namespace, dir: t.TempDir()}
	server := httptest.NewTLSServer(f)
	t.Cleanup(server.Close)
	f.address = server.Listener.Addr().String()
	f.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	key := must.Get(x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey))(t)
	f.write(t, "tls.crt", f.authority)
	f.write(t, "tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return f
}

func (f *front) write(t *testing.T, name string, content []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(f.dir, name), content, 0o600))
}

// cloudOf is the cloud whose hook asks a path.
func cloudOf(path string) string {
	for _, cloud := range []string{"azure", "gcp"} {
		if strings.Contains(path, "/mutate/"+cloud) {
			return cloud
		}
	}
	return "aws"
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cloud := cloudOf(r.URL.Path)
	f.mu.Lock()
	f.asked = append(f.asked, cloud)
	target, known := f.target, slices.Contains(f.clouds, cloud)
	f.mu.Unlock()
	if known {
		target.ServeHTTP(w, r)
		return
	}
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    map[string]any `json:"request,omitempty"`
		Response   map[string]any `json:"response"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = map[string]any{"uid": review.Request["uid"], "allowed": true}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // who hung up hears nothing
}

// let passes on what these clouds' hooks ask.
func (f *front) let(target http.Handler, clouds []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target, f.clouds = target, clouds
}

// take is whose hooks have asked since the last time.
func (f *front) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

// serve runs a server with the fixture's settings behind the front, until it is
// stopped.
func (f *front) serve(t *testing.T, config *rest.Config, given fixture) (stop func()) {
	t.Helper()
	var o webhook.Options
	o.AddFlags(pflag.NewFlagSet("webhook", pflag.ContinueOnError))
	o.Config, o.BindAddress, o.Port, o.MetricsPort = config, "127.0.0.1", testkit.FreePort(t), testkit.FreePort(t)
	o.TLSCert, o.TLSKey = filepath.Join(f.dir, "tls.crt"), filepath.Join(f.dir, "tls.key")
	o.Namespace, o.DrainTime = f.namespace, 0
	o.Clouds, o.Settings, o.Azure, o.Google = given.Clouds, given.Settings, given.Azure, given.Google
	o.ComposeRoleARN, o.AccountID = given.Settings.ComposeAccount != "", given.Settings.ComposeAccount
	o.WatchConfigMap = given.Mapping != ""
	if given.Identities != "" {
		f.write(t, "identities.json", []byte(given.Identities))
		o.WatchIdentities = filepath.Join(f.dir, "identities.json")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- webhook.Run(ctx, o) }()
	ready := fmt.Sprintf("http://127.0.0.1:%d/readyz", o.MetricsPort)
	eventually(t, "the server is ready", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the server has ended: %v", err)
		default:
		}
		request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, ready, nil))(t)
		response, err := http.DefaultClient.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
	f.let(f.proxy(o.Port), given.Clouds)
	return func() {
		f.let(nil, nil)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}
}

// proxy passes on to a server of this machine.
func (f *front) proxy(port int) http.Handler {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(f.authority)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	proxy.Transport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return proxy
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return is(), nil })
	if err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}
