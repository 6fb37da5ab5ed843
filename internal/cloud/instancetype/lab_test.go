package instancetype_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	source "github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const account = "123456789012"

var (
	person = identity.Identity{Base: identity.Session}
	large  = instancetype.Answer{State: instancetype.Found, Type: instancetype.Type{
		Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architecture: "amd64",
	}}
	unknown = instancetype.Answer{State: instancetype.Unknown}
)

// lab is a local AWS with the adapter on it, and a clock.
type lab struct {
	aws   *awslocal.Server
	auth  *awsauth.Auth
	types *source.Types
	front *front
	// refreshed gets every attempt to fetch a list.
	refreshed chan source.Refresh

	mu  sync.Mutex
	now time.Time
}

func newLab(t testing.TB, home string) *lab {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{Accounts: []string{account}, Region: home})
	if err != nil {
		t.Fatalf("awslocal: %v", err)
	}
	l := &lab{
		aws: server, front: &front{next: server.Handler()}, refreshed: make(chan source.Refresh, 100),
		now: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC),
	}
	door := httptest.NewServer(l.front)
	t.Cleanup(func() {
		l.front.open()
		door.Close()
	})
	administrator := server.Administrator(account)
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": door.URL, "AWS_CA_BUNDLE": "", "AWS_REGION": home, "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_SESSION_TOKEN": "",
		"AWS_ACCESS_KEY_ID": administrator.AccessKeyID, "AWS_SECRET_ACCESS_KEY": administrator.SecretAccessKey,
	} {
		setenv(t, name, value)
	}
	if l.auth, err = awsauth.New(awsauth.Options{HTTPClient: door.Client()}); err != nil {
		t.Fatalf("awsauth: %v", err)
	}
	l.types = l.with(source.Options{})
	return l
}

// setenv is the Setenv of tests and benchmarks.
func setenv(t testing.TB, name, value string) {
	t.Helper()
	t.(interface{ Setenv(string, string) }).Setenv(name, value)
}

// with is another adapter on the same AWS, that neither waits nor repeats.
func (l *lab) with(options source.Options) *source.Types {
	options.Rate, options.Burst, options.Attempts = 1e6, 1000, 1
	options.Now = l.clock
	options.Refreshed = func(r source.Refresh) { l.refreshed <- r }
	return source.New(l.auth, options)
}

func (l *lab) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *lab) advance(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// calls are the journal's "OPERATION@REGION", and the journal is cleared.
func (l *lab) calls() []string {
	out := []string{}
	for _, entry := range l.aws.Admin().Journal() {
		if entry.Service == "ec2" {
			out = append(out, entry.Operation+"@"+entry.Region)
		}
	}
	l.aws.Admin().ClearJournal()
	return out
}

// pages is how many calls a whole list takes.
func (l *lab) pages(t testing.TB) int {
	t.Helper()
	types := l.with(source.Options{})
	must.Get(types.Get(t.Context(), person, ask("m5.large", "us-west-1")))(t)
	<-l.refreshed
	n := len(l.calls())
	if n < 5 {
		t.Fatalf("a list of %d pages, want several", n)
	}
	return n
}

// powerless is an identity that may become a role and then do nothing.
func (l *lab) powerless(t *testing.T) identity.Identity {
	t.Helper()
	config := must.Get(l.auth.Config(t.Context(), person))(t)
	out := must.Get(iam.NewFromConfig(config).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("powerless"),
		AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole",` +
			`"Principal":{"AWS":"arn:aws:iam::` + account + `:root"}}]}`),
	}))(t)
	return person.Assuming(aws.ToString(out.Role.Arn))
}

func ask(name, region string) instancetype.Question {
	return instancetype.Question{Type: name, Region: region}
}

func (l *lab) want(t *testing.T, q instancetype.Question, want instancetype.Answer) {
	t.Helper()
	got, err := l.types.Get(t.Context(), person, q)
	if err != nil || got != want {
		t.Errorf("%s in %s: got %+v, %v; want %+v", q.Type, q.Region, got, err, want)
	}
}

// wantFault demands a fault of that class and code, and no answer.
func wantFault(t *testing.T, got instancetype.Answer, err error, class fault.Class, code string) {
	t.Helper()
	var known fault.Fault
	if !errors.As(err, &known) || known.Class != class || known.Code != code {
		t.Errorf("got %v, want a fault %s %s", err, class, code)
	}
	if got != (instancetype.Answer{}) {
		t.Errorf("an answer beside a fault: %+v", got)
	}
}

// front stands before the local AWS and holds up requests to regions.
type front struct {
	next http.Handler

	mu   sync.Mutex
	held map[string]chan struct{}
	// came gets the region of every request that is held up.
	came chan string
}

// hold makes requests to a region wait until open.
func (f *front) hold(region string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		f.held, f.came = map[string]chan struct{}{}, make(chan string, 100)
	}
	f.held[region] = make(chan struct{})
}

// open lets all requests go.
func (f *front) open() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for region, gate := range f.held {
		close(gate)
		delete(f.held, region)
	}
}

func (f *front) gate(r *http.Request) (string, chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for region, gate := range f.held {
		if strings.Contains(r.Header.Get("Authorization"), "/"+region+"/ec2/") {
			return region, gate
		}
	}
	return "", nil
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if region, gate := f.gate(r); gate != nil {
		f.came <- region
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	f.next.ServeHTTP(w, r)
}
