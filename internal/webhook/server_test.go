package webhook

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const role = "arn:aws:iam::111122223333:role/app"

// farAway is when certificates end that do not matter.
var farAway = time.Now().Add(time.Hour)

// fakeAccounts are the ServiceAccounts by NAMESPACE/NAME.
type fakeAccounts struct {
	known    map[string]string // role ARN
	unsynced bool
	// live says that they were all looked at just now.
	live bool
	err  error
}

func (f fakeAccounts) synced() bool { return !f.unsynced }

func (f fakeAccounts) find(_ context.Context, key types.NamespacedName, _ string) (*inject.ServiceAccount, bool, error) {
	arn, ok := f.known[key.String()]
	if !ok || f.err != nil {
		return nil, f.live, f.err
	}
	return &inject.ServiceAccount{Annotations: map[string]string{"eks.amazonaws.com/role-arn": arn}}, f.live, nil
}

// defaultOptions are what the flags say when nobody sets one.
func defaultOptions(t testing.TB) Options {
	t.Helper()
	var o Options
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	o.AddFlags(flags)
	must.Do(t, flags.Parse(nil))
	return o
}

func testServer(t testing.TB, known accounts, change func(*inject.Settings)) *server {
	t.Helper()
	o := defaultOptions(t)
	if change != nil {
		change(&o.Settings)
	}
	return serverFor(t, o, known)
}

// serverFor is a server for the clouds of the options.
func serverFor(t testing.TB, o Options, known accounts) *server {
	t.Helper()
	on := must.Get(newClouds(o))(t)
	return newServer(on, known, newMetrics(), logr.Discard())
}

// pair makes a certificate for 127.0.0.1 that ends at that time.
func pair(t testing.TB, ends time.Time) (chain, key []byte) {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(ends.UnixNano()), NotBefore: ends.Add(-24 * time.Hour), NotAfter: ends,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))(t)
	keyDER := must.Get(x509.MarshalPKCS8PrivateKey(private))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

func get(t *testing.T, handler http.Handler, path string) (int, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		unsynced bool
		ends     time.Duration // of the certificate from now, 0 for none
		code     int
		says     string
	}{
		"not before the ServiceAccounts are read": {unsynced: true, ends: time.Hour, code: 503, says: "the ServiceAccounts have not been read yet"},
		"not before there is a certificate":       {code: 503, says: "there is no serving certificate yet"},
		"not with an expired certificate":         {ends: -time.Hour, code: 503, says: "the serving certificate expired at"},
		"with both":                               {ends: time.Hour, code: 200, says: "ok"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testServer(t, fakeAccounts{unsynced: test.unsynced}, nil)
			if test.ends != 0 {
				must.Do(t, s.serving.load(pair(t, time.Now().Add(test.ends))))
			}
			for where, handler := range map[string]http.Handler{"secure": s.handler(), "plain": s.observer()} {
				if code, says := get(t, handler, "/readyz"); code != test.code || !strings.HasPrefix(says, test.says) {
					t.Errorf("%s /readyz is %d %q, want %d %q", where, code, says, test.code, test.says)
				}
				if code, says := get(t, handler, "/healthz"); code != 200 || says != "ok" {
					t.Errorf("%s /healthz is %d %q, want 200 ok", where, code, says)
				}
			}
		})
	}
}

// TestServeOverTLS goes through real sockets: the certificate is taken from
// files, exchanged while serving, and the end of the context ends the server.
func TestServeOverTLS(t *testing.T) {
	t.Parallel()
	s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
	directory := t.TempDir()
	files := [2]string{filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key")}
	first, key := pair(t, time.Now().Add(time.Hour))
	for i, content := range [][]byte{first, key} {
		must.Do(t, os.WriteFile(files[i], content, 0o600))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	must.Do(t, s.serving.watchFiles(ctx, files[0], files[1], s.log))
	sockets := must.Get(listen(ctx, Options{BindAddress: "127.0.0.1"}))(t)
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, sockets) }()

	url := "https://" + sockets.secure.Addr().String() + "/mutate"
	if code := post(t, url, first); code != http.StatusOK {
		t.Errorf("with the first certificate: %d", code)
	}
	second, key := pair(t, time.Now().Add(2*time.Hour))
	must.Do(t, s.serving.load(second, key))
	if code := post(t, url, second); code != http.StatusOK {
		t.Errorf("with the second certificate: %d", code)
	}
	if err := s.serving.load([]byte("rubbish"), key); err == nil {
		t.Error("a certificate that is none was taken")
	}
	if code := post(t, url, second); code != http.StatusOK {
		t.Errorf("after a bad certificate: %d", code)
	}
	if code := scrape(t, "http://"+sockets.plain.Addr().String()+"/metrics"); code != http.StatusOK {
		t.Errorf("metrics: %d", code)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

// post asks on a new connection that trusts only that certificate.
func post(t *testing.T, url string, trusted []byte) int {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(reviewOf("v1", "shop", pod))))(t)
	request.Header.Set("Content-Type", "application/json")
	return do(t, client, request)
}

func scrape(t *testing.T, url string) int {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	return do(t, http.DefaultClient, request)
}

func do(t *testing.T, client *http.Client, request *http.Request) int {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, response.Body)
	must.Do(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode
}

func TestMetricsCountOutcomes(t *testing.T) {
	t.Parallel()
	s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
	for _, namespace := range []string{"shop", "shop", "other"} {
		mutate(t, s, reviewOf("v1", namespace, pod))
	}
	mutate(t, s, reviewOf("v1", "shop", complete))
	_, text := get(t, s.observer(), "/metrics")
	for _, want := range []string{
		`tabard_webhook_admissions_total{cloud="aws",outcome="unchanged",reason="Complete"} 1`,
		`tabard_webhook_admissions_total{cloud="aws",outcome="injected",reason="Injected"} 2`,
		`tabard_webhook_admissions_total{cloud="aws",outcome="unchanged",reason="UnknownServiceAccount"} 1`,
		`tabard_webhook_admission_seconds_count 4`,
		`tabard_webhook_synced 1`,
		`tabard_webhook_certificate_expiry_seconds 0`,
		`http_request_count{code="200",path="/mutate",verb="POST"} 4`,
		`http_request_latencies_count{path="/mutate",verb="POST"} 4`,
		`http_request_duration_microseconds_count{path="/mutate",verb="POST"} 4`,
		`pod_identity_webhook_pod_count{method="sts_web_identity"} 3`,
		`pod_identity_webhook_missing_sa_count 1`,
	} {
		if !strings.Contains(text+"\n", want+"\n") {
			t.Errorf("metrics lack %s:\n%s", want, grep(text, "_"))
		}
	}
}

// complete is a pod that has all that it gets.
const complete = `{"metadata":{"name":"app"},"spec":{"serviceAccountName":"app",` +
	`"volumes":[{"name":"aws-iam-token","projected":{"sources":[{"serviceAccountToken":{"audience":"sts.amazonaws.com","path":"token"}}]}}],` +
	`"containers":[{"name":"app","env":[{"name":"AWS_ROLE_ARN","value":"` + role + `"},{"name":"AWS_WEB_IDENTITY_TOKEN_FILE","value":"/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}],` +
	`"volumeMounts":[{"name":"aws-iam-token","mountPath":"/var/run/secrets/eks.amazonaws.com/serviceaccount"}]}]}}`

func grep(text, part string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

func TestMetricsTellOfTheStore(t *testing.T) {
	t.Parallel()
	counted := newMetrics()
	known := newStore(newInterest("eks.amazonaws.com/role-arn"))
	counted.watchStore(known)
	expectMetrics := func(want ...string) {
		t.Helper()
		_, text := get(t, counted.handler(), "/metrics")
		for _, line := range want {
			if !strings.Contains(text+"\n", "\n"+line+"\n") {
				t.Errorf("metrics lack %s:\n%s", line, grep(text, "webhook_"))
			}
		}
	}
	expectMetrics(`tabard_webhook_service_accounts 0`, `tabard_webhook_watching 0`, `tabard_webhook_last_event_seconds 0`, `pod_identity_webhook_used 0`)
	relist(t, known, "9", account("shop", "app", "5", withRole), account("shop", "bare", "6", nil))
	known.watching(true)
	expectMetrics(`tabard_webhook_service_accounts 2`, `tabard_webhook_service_accounts_opted_in 1`, `tabard_webhook_watching 1`, `pod_identity_webhook_used 1`)
}

// TestItDrains: told to end, the server is not ready any more, still answers for
// a while and asks its clients to hang up, and then ends.
func TestItDrains(t *testing.T) {
	t.Parallel()
	s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
	chain, key := pair(t, time.Now().Add(time.Hour))
	must.Do(t, s.serving.load(chain, key))
	s.drain = 2 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	sockets := must.Get(listen(ctx, Options{BindAddress: "127.0.0.1"}))(t)
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, sockets) }()
	ready := "http://" + sockets.plain.Addr().String() + "/readyz"
	if code := scrape(t, ready); code != http.StatusOK {
		t.Errorf("/readyz is %d before", code)
	}
	cancel()
	eventually(t, "the server drains", s.draining.Load)
	if code := scrape(t, ready); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz is %d while it drains", code)
	}
	if code := post(t, "https://"+sockets.secure.Addr().String()+"/mutate", chain); code != http.StatusOK {
		t.Errorf("/mutate is %d while it drains", code)
	}
	if _, recorder := mutate(t, s, reviewOf("v1", "shop", pod)); recorder.Header().Get("Connection") != "close" {
		t.Errorf("header %v, want that the client hangs up", recorder.Header())
	}
	if err := <-ended; err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Options)
		want   string
	}{
		"a client configuration is needed":    {func(o *Options) { o.Config = nil }, "no client configuration"},
		"a certificate file needs its key":    {func(o *Options) { o.TLSCert = "x" }, "one of --tls-cert and --tls-key is empty"},
		"a Secret or files are needed":        {func(o *Options) { o.TLSSecret = "" }, "no serving certificate"},
		"the settings of injection are wrong": {func(o *Options) { o.Settings.Audience = "" }, "--token-audience is empty"},
		"names of clients without a CA":       {func(o *Options) { o.ClientNames = []string{"a"} }, "--client-names or --require-client-certificate without --client-ca-file"},
		"a client CA that is not there":       {func(o *Options) { o.ClientCAFile = "/nonexistent/ca" }, "--client-ca-file"},
		"less than no connection":             {func(o *Options) { o.MaxConnections = -1 }, "--max-connections is -1"},
		"no looks at all":                     {func(o *Options) { o.UnknownLookups = 0 }, "--unknown-lookups-per-second is 0"},
		"files that are not there":            {func(o *Options) { o.TLSCert, o.TLSKey = "/nonexistent/c", "/nonexistent/k" }, "read --tls-cert"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := defaultOptions(t)
			o.Config = &rest.Config{Host: "127.0.0.1:1"}
			test.change(&o)
			if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Run = %v, want %s", err, test.want)
			}
		})
	}
}
