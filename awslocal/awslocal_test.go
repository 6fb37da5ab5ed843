package awslocal

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newServer(t *testing.T, options Options) *Server {
	t.Helper()
	server, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// ask sends a request to the handler as a program on the same machine does.
func ask(server *Server, method, target, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1"+target, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, r)
	return w
}

func form(r *http.Request) {
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
}

func TestAdminAPIAnswersOnlyItsOwnMachine(t *testing.T) {
	server := newServer(t, Options{})
	cases := map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"a program on this machine": {nil, http.StatusOK},
		"by IPv6":                   {func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:1", "[::1]:4566" }, http.StatusOK},
		"another machine":           {func(r *http.Request) { r.RemoteAddr = "192.0.2.1:1" }, http.StatusForbidden},
		"a web page":                {func(r *http.Request) { r.Header.Set("Origin", "https://elsewhere.example") }, http.StatusForbidden},
		"a name that was rebound":   {func(r *http.Request) { r.Host = "elsewhere.example" }, http.StatusForbidden},
		"a page in its own bucket":  {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, http.StatusForbidden},
		"an image on another page":  {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"a person at a browser":     {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, http.StatusOK},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ask(server, "GET", "/_awslocal/health", "", c.change); got.Code != c.want {
				t.Errorf("status %d, want %d", got.Code, c.want)
			}
		})
	}
}

func TestAdminAPIMovesTheClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	server := newServer(t, Options{Now: func() time.Time { return now }})
	steps := []struct {
		body   string
		status int
		want   string
	}{
		{`{"advance":"6m"}`, 200, `{"credentialOffset":"0s","now":"2026-01-01T12:06:00Z","signatureOffset":"0s","tokenOffset":"0s"}`},
		{`{"tokenOffset":"6m"}`, 200, `{"credentialOffset":"0s","now":"2026-01-01T12:06:00Z","signatureOffset":"0s","tokenOffset":"6m0s"}`},
		{`{"credentialOffset":"1h","signatureOffset":"-1m"}`, 200, `{"credentialOffset":"1h0m0s","now":"2026-01-01T12:06:00Z","signatureOffset":"-1m0s","tokenOffset":"6m0s"}`},
		{`{"advance":"1h","signatureOffset":"soon"}`, 400, `signatureOffset is "soon"`},
		{`{"set":"2027-01-01T00:00:00Z","advance":"1s"}`, 200, `{"credentialOffset":"1h0m0s","now":"2027-01-01T00:00:01Z","signatureOffset":"-1m0s","tokenOffset":"6m0s"}`},
		{`{"advance":"soon"}`, 400, `advance is "soon", a duration such as "6m" or "-1h30m" was expected`},
		{`{"forward":"6m"}`, 400, `unknown field "forward"`},
		{`[`, 400, "The body must be a JSON object"},
	}
	for _, step := range steps {
		got := ask(server, "POST", "/_awslocal/clock", step.body, nil)
		if got.Code != step.status || !strings.Contains(got.Body.String(), step.want) {
			t.Errorf("%s answers %d %s, want %d %s", step.body, got.Code, got.Body, step.status, step.want)
		}
	}
	if got := ask(server, "POST", "/_awslocal/reset", "", nil); got.Code != http.StatusNoContent || !server.Admin().Now().Equal(now) {
		t.Errorf("a reset answers %d, and the clock shows %v", got.Code, server.Admin().Now())
	}
}

func TestJournalShowsRefusals(t *testing.T) {
	server := newServer(t, Options{})
	ask(server, "POST", "/", "Action=GetCallerIdentity&Version=2011-06-15", form)
	ask(server, "POST", "/", "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn:aws:iam::123456789012:role/x&RoleSessionName=pod&WebIdentityToken=secret-token", form)
	got := ask(server, "GET", "/_awslocal/journal", "", nil)
	var entries []Entry
	if err := json.Unmarshal(got.Body.Bytes(), &entries); err != nil || len(entries) != 2 {
		t.Fatalf("the journal is %s", got.Body)
	}
	if e := entries[0]; e.Service != "sts" || e.Operation != "GetCallerIdentity" || e.Error != "MissingAuthenticationToken" || e.Status != 403 || e.Caller != "anonymous" {
		t.Errorf("the first entry is %+v", e)
	}
	if e := entries[1]; e.Error != "InvalidIdentityToken" || e.Resource != "arn:aws:iam::123456789012:role/x" {
		t.Errorf("the second entry is %+v", e)
	}
	if strings.Contains(got.Body.String(), "secret-token") {
		t.Error("the journal holds a token")
	}
	since := ask(server, "GET", "/_awslocal/journal?since="+entries[0].RequestID, "", nil)
	if err := json.Unmarshal(since.Body.Bytes(), &entries); err != nil || len(entries) != 1 {
		t.Errorf("since the first entry there are %d", len(entries))
	}
	if ask(server, "DELETE", "/_awslocal/journal", "", nil); len(server.Admin().Journal()) != 0 {
		t.Error("the journal is not cleared")
	}
}

func TestRefusalsHaveTheirServicesForm(t *testing.T) {
	server := newServer(t, Options{})
	scope := func(service string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("X-Amz-Date", time.Now().UTC().Format("20060102T150405Z"))
			r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIA/"+time.Now().UTC().Format("20060102")+"/us-east-1/"+service+"/aws4_request, SignedHeaders=host, Signature="+strings.Repeat("0", 64))
		}
	}
	json := func(r *http.Request) {
		scope("dynamodb")(r)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	}
	cases := map[string]struct {
		method, target, body string
		change               func(*http.Request)
		status               int
		want                 string
	}{
		"IAM unsigned":               {"POST", "/", "Action=ListRoles&Version=2010-05-08", form, 403, `<ErrorResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><Error><Type>Sender</Type><Code>MissingAuthenticationToken</Code>`},
		"S3 with an unknown key":     {"GET", "/bucket/key", "", scope("s3"), 403, `<Error><Code>InvalidAccessKeyId</Code><Message>The AWS Access Key Id you provided does not exist in our records.</Message><Resource>/bucket/key</Resource>`},
		"S3 with half a signature":   {"GET", "/b", "", func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 x") }, 400, "<Code>AuthorizationHeaderMalformed</Code>"},
		"a service that is unknown":  {"POST", "/", "", scope("sqs"), 501, `The local AWS does not play the service &#34;sqs&#34;; it plays ec2, eks, eks-auth, iam, s3, sts.`},
		"one that speaks JSON":       {"POST", "/", "{}", json, 501, `{"__type":"ServiceNotImplemented","message":"The local AWS does not play the service \"dynamodb\"; it plays ec2, eks, eks-auth, iam, s3, sts."}`},
		"an operation that is wrong": {"POST", "/", "Action=Nonsense", form, 403, "MissingAuthenticationToken"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(server, c.method, c.target, c.body, c.change)
			if got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
				t.Errorf("answer %d\n %s\nwant %d\n %s", got.Code, got.Body, c.status, c.want)
			}
			if got.Header().Get("Date") == "" || got.Header().Get("X-Amz-Request-Id")+got.Header().Get("X-Amzn-Requestid") == "" {
				t.Errorf("the headers %v lack the date or a request ID", got.Header())
			}
		})
	}
}

func TestStateFolderIsPrivateAndRepeatable(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	first := newServer(t, Options{Dir: folder})
	for name, want := range map[string]fs.FileMode{"": 0o700, certificateFile: 0o600, keyFile: 0o600, administratorsFile: 0o600} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
	second := newServer(t, Options{Dir: folder})
	if !bytes.Equal(first.CACertificate(), second.CACertificate()) || first.Administrator(DefaultAccount) != second.Administrator(DefaultAccount) {
		t.Error("a second server has another authority or administrator")
	}
	if err := os.WriteFile(filepath.Join(folder, keyFile), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Dir: folder}); err == nil || !strings.Contains(err.Error(), "remove ca.crt and ca.key") {
		t.Errorf("a spoiled key gives the error %v", err)
	}
}

func TestFixedRandomnessGivesFixedKeys(t *testing.T) {
	key := func() Credentials {
		return newServer(t, Options{Random: rand.NewChaCha8([32]byte{1})}).Administrator(DefaultAccount)
	}
	if first, second := key(), key(); first != second {
		t.Error("two servers with the same randomness have different keys")
	}
}

func TestAccountIDsAreChecked(t *testing.T) {
	if _, err := New(Options{Accounts: []string{"12345"}}); err == nil {
		t.Error("an account of five digits is accepted")
	}
}

func TestRunServesUntilItsContextEnds(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, RunOptions{Options: Options{Dir: folder}, Listen: "127.0.0.1:0", ListenPlain: "127.0.0.1:0", Stdout: writer})
	}()
	line := make([]byte, 200)
	n, err := reader.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "AWS_ENDPOINT_URL="))
	authority, err := os.ReadFile(filepath.Join(folder, certificateFile))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/_awslocal/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("status %d, error %v", response.StatusCode, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if response, err := client.Do(ask); err == nil {
		_ = response.Body.Close()
		t.Error("the server answers after its context has ended")
	}
}

func TestRunWantsAnAddress(t *testing.T) {
	if err := Run(t.Context(), RunOptions{Stdout: io.Discard}); err == nil {
		t.Error("no address is accepted")
	}
	if err := Run(t.Context(), RunOptions{Listen: "127.0.0.1:99999", Stdout: io.Discard}); err == nil {
		t.Error("an impossible port is accepted")
	}
}

func FuzzServer(f *testing.F) {
	server, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("POST", "/", "Action=AssumeRoleWithWebIdentity&RoleArn=arn:aws:iam::123456789012:role/x&RoleSessionName=ab&WebIdentityToken=a.b.c", "")
	f.Add("GET", "/?Action=GetCallerIdentity", "", "AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request,SignedHeaders=host,Signature=0")
	f.Add("PUT", "/bucket/key", "0\r\n\r\n", "")
	f.Fuzz(func(t *testing.T, method, target, body, authorization string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+target, strings.NewReader(body))
		if err != nil {
			return
		}
		r.RemoteAddr = "127.0.0.1:1"
		form(r)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError && w.Code != http.StatusNotImplemented {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}
