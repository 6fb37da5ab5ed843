package s3

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	ours   = "123456789012"
	theirs = "111122223333"
)

var (
	alice     = iampolicy.Principal{Kind: iampolicy.User, ARN: "arn:aws:iam::" + ours + ":user/alice", AccountID: ours}
	bob       = iampolicy.Principal{Kind: iampolicy.User, ARN: "arn:aws:iam::" + theirs + ":user/bob", AccountID: theirs}
	rootUser  = iampolicy.Principal{Kind: iampolicy.Root, ARN: "arn:aws:iam::" + ours + ":root", AccountID: ours}
	anonymous = iampolicy.Principal{Kind: iampolicy.Anonymous}
	noon      = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

// decide is a scripted Authorize.
type decide func(action, resource string, side call.Side, extra iampolicy.Context) iampolicy.Decision

func allowAll(string, string, call.Side, iampolicy.Context) iampolicy.Decision {
	return iampolicy.Decision{Effect: iampolicy.Allow}
}

// deny refuses the actions and allows all others.
func deny(effect iampolicy.Effect, kind iampolicy.Kind, actions ...string) decide {
	return func(action, _ string, _ call.Side, _ iampolicy.Context) iampolicy.Decision {
		for _, one := range actions {
			if one == action {
				return iampolicy.Decision{Effect: effect, Kind: kind}
			}
		}
		return iampolicy.Decision{Effect: iampolicy.Allow}
	}
}

// ask is a request in the making. The zero values are: alice, us-east-1, all
// allowed, no body.
type ask struct {
	caller  *iampolicy.Principal
	region  string
	host    string
	header  map[string]string
	trailer map[string]string
	body    string
	decide  decide
	now     time.Time
	// trouble is the call's Trouble.
	trouble func(operation string) *call.Fault
}

// reply is an answer as a client sees it.
type reply struct {
	*httptest.ResponseRecorder
	entry call.Entry
}

func (r reply) text() string { return r.Body.String() }

// failure is the code and message of an <Error>.
func (r reply) failure() (code, message string) {
	var parsed struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	if err := xml.Unmarshal(r.Body.Bytes(), &parsed); err != nil {
		return "", ""
	}
	return parsed.Code, parsed.Message
}

// do sends "METHOD /path?query".
func do(t *testing.T, s *Service, line string, with ask) reply {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:4566"+path, http.NoBody)
	if err != nil {
		t.Fatalf("request %s: %v", line, err)
	}
	r.Host = "127.0.0.1:4566"
	if with.host != "" {
		r.Host = with.host
	}
	for name, value := range with.header {
		r.Header.Set(name, value)
	}
	trailer := http.Header{}
	for name, value := range with.trailer {
		trailer.Set(name, value)
	}
	if with.caller == nil {
		with.caller = &alice
	}
	if with.region == "" {
		with.region = "us-east-1"
	}
	if with.decide == nil {
		with.decide = allowAll
	}
	if with.now.IsZero() {
		with.now = noon
	}
	c := &call.Call{
		HTTP: r, Payload: []byte(with.body), Trailer: trailer, ID: "REQUEST1", Now: with.now, Region: with.region,
		Caller: call.Caller{Principal: *with.caller}, Authorize: with.decide, Entry: &call.Entry{}, Trouble: with.trouble,
	}
	recorder := httptest.NewRecorder()
	s.Serve(recorder, c)
	return reply{recorder, *c.Entry}
}

// must is do for what has to succeed.
func must(t *testing.T, s *Service, line string, with ask) reply {
	t.Helper()
	r := do(t, s, line, with)
	if r.Code >= 300 {
		t.Fatalf("%s: status %d, want success: %s", line, r.Code, r.text())
	}
	return r
}

// stocked is a Service with alice's buckets "docs" (us-east-1) and "abroad"
// (eu-west-1), and two objects in docs.
func stocked(t *testing.T) *Service {
	t.Helper()
	s := New(Options{})
	must(t, s, "PUT /docs", ask{})
	must(t, s, "PUT /abroad", ask{region: "eu-west-1", body: location("eu-west-1")})
	must(t, s, "PUT /docs/a.txt", ask{body: "hello world"})
	must(t, s, "PUT /docs/dir/b.txt", ask{body: "second"})
	return s
}

func location(region string) string {
	return "<CreateBucketConfiguration><LocationConstraint>" + region + "</LocationConstraint></CreateBucketConfiguration>"
}

// row is one request and what must come of it.
type row struct {
	// before are requests that must succeed first.
	before []string
	line   string
	ask    ask
	status int
	// code and message are those of the error, where there is one.
	code, message string
	// body is what the answer's body must contain.
	body string
	// header are headers that the answer must have; "" wants none.
	header map[string]string
}

func check(t *testing.T, rows map[string]row) {
	t.Helper()
	for name, tt := range rows {
		t.Run(name, func(t *testing.T) {
			s := stocked(t)
			for _, line := range tt.before {
				must(t, s, line, ask{})
			}
			tt.compare(t, do(t, s, tt.line, tt.ask))
		})
	}
}

func (tt row) compare(t *testing.T, got reply) {
	t.Helper()
	if got.Code != tt.status {
		t.Errorf("status %d, want %d: %s", got.Code, tt.status, got.text())
	}
	code, message := got.failure()
	if code != tt.code {
		t.Errorf("error code %q, want %q: %s", code, tt.code, got.text())
	}
	if tt.message != "" && message != tt.message {
		t.Errorf("message\n %s\nwant\n %s", message, tt.message)
	}
	if !strings.Contains(got.text(), tt.body) {
		t.Errorf("body %q, want it to contain %q", got.text(), tt.body)
	}
	for name, want := range tt.header {
		if value := got.Header().Get(name); value != want {
			t.Errorf("header %s is %q, want %q", name, value, want)
		}
	}
	if got.entry.Status != tt.status || got.entry.Error != tt.code && got.Code != http.StatusNotModified && tt.code != "" {
		t.Errorf("journal says %d %q, want %d %q", got.entry.Status, got.entry.Error, tt.status, tt.code)
	}
}
