package awsauth_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	testRole  = "arn:aws:iam::123456789012:role/tabard-issuer"
	otherRole = "arn:aws:iam::210987654321:role/spoke"
	tokenFile = "/var/run/secrets/token"
)

// world is a process around an Auth: environment, files and clock.
type world struct {
	env map[string]string

	mu    sync.Mutex
	files map[string]string
	time  time.Time
}

func newWorld(env map[string]string) *world {
	return &world{
		env:   env,
		files: map[string]string{tokenFile: "token-1\n"},
		time:  time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
	}
}

func (w *world) options() awsauth.Options {
	return awsauth.Options{
		Getenv: func(name string) string { return w.env[name] },
		ReadFile: func(name string) ([]byte, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			content, ok := w.files[name]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}
			return []byte(content), nil
		},
		Now: w.now,
	}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

func (w *world) write(name, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[name] = content
}

func (w *world) auth(t *testing.T) *awsauth.Auth {
	t.Helper()
	auth, err := awsauth.New(w.options())
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return auth
}

// inCluster is the environment of a pod whose STS is the fake one.
func inCluster(server *stsServer) map[string]string {
	return map[string]string{
		"AWS_ROLE_ARN":                testRole,
		"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile,
		"AWS_REGION":                  "us-west-2",
		"AWS_ENDPOINT_URL_STS":        server.URL,
		"AWS_CA_BUNDLE":               "/ca.pem",
		"HOSTNAME":                    "tabard-issuer-abc",
	}
}

func podWorld(server *stsServer) *world {
	w := newWorld(inCluster(server))
	w.files["/ca.pem"] = server.ca
	return w
}

func retrieve(t *testing.T, auth *awsauth.Auth, id identity.Identity) (aws.Credentials, error) {
	t.Helper()
	config, err := auth.Config(t.Context(), id)
	if err != nil {
		t.Fatalf("Config: %v", err)
	}
	return config.Credentials.Retrieve(t.Context())
}

func mustRetrieve(t *testing.T, auth *awsauth.Auth, id identity.Identity) aws.Credentials {
	t.Helper()
	credentials, err := retrieve(t, auth, id)
	if err != nil {
		t.Fatalf("Retrieve: %v", err)
	}
	return credentials
}

var web = identity.Identity{Base: identity.WebIdentity}

func TestConfigCallsNobody(t *testing.T) {
	server := newSTS(t)
	auth := podWorld(server).auth(t)
	for _, id := range []identity.Identity{web, web.In("eu-west-1"), web.Assuming(otherRole)} {
		if _, err := auth.Config(t.Context(), id); err != nil {
			t.Fatalf("Config: %v", err)
		}
	}
	if calls := server.requests(); len(calls) != 0 {
		t.Errorf("building configurations made calls: %v", calls)
	}
}

func TestTokenIsExchangedForTheRole(t *testing.T) {
	server := newSTS(t)
	w := podWorld(server)
	w.env["AWS_ACCESS_KEY_ID"], w.env["AWS_SECRET_ACCESS_KEY"] = "AKIAAMBIENT", "ambient"
	w.env["AWS_PROFILE"] = "somebody"
	got := mustRetrieve(t, w.auth(t), web)
	if got.AccessKeyID != "ASIA1" || got.SecretAccessKey != "secret-1" || got.SessionToken != "session-1" {
		t.Errorf("credentials are not those of the exchange: key %s", got.AccessKeyID)
	}
	want := []request{{
		Action: "AssumeRoleWithWebIdentity", Role: testRole, Session: "tabard-tabard-issuer-abc", Token: "token-1",
	}}
	if diff := cmp.Diff(want, server.requests()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestSessionNameComesFromTheEnvironment(t *testing.T) {
	cases := map[string]struct {
		set  map[string]string
		want string
	}{
		"a name of its own is taken as it is": {map[string]string{"AWS_ROLE_SESSION_NAME": "mine"}, "mine"},
		"the pod's name otherwise":            {map[string]string{"HOSTNAME": "pod-1"}, "tabard-pod-1"},
		"what STS refuses is replaced":        {map[string]string{"HOSTNAME": "a b/c"}, "tabard-a-b-c"},
		"the start's second without any":      {map[string]string{"HOSTNAME": ""}, "tabard-1767268800"},
		"long names are cut to 64 characters": {
			map[string]string{"HOSTNAME": strings.Repeat("x", 80)}, "tabard-" + strings.Repeat("x", 57),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := newSTS(t)
			w := podWorld(server)
			for key, value := range c.set {
				w.env[key] = value
			}
			mustRetrieve(t, w.auth(t), web)
			if got := server.requests()[0].Session; got != c.want {
				t.Errorf("session %q, want %q", got, c.want)
			}
		})
	}
}

func TestTokenFileIsReadAtEachExchange(t *testing.T) {
	server := newSTS(t)
	w := podWorld(server)
	auth := w.auth(t)
	mustRetrieve(t, auth, web)
	w.write(tokenFile, "token-2")
	if got := mustRetrieve(t, auth, web).AccessKeyID; got != "ASIA1" {
		t.Errorf("credentials with an hour left were exchanged again: %s", got)
	}
	w.advance(56 * time.Minute)
	if got := mustRetrieve(t, auth, web).AccessKeyID; got != "ASIA2" {
		t.Errorf("credentials with four minutes left were kept: %s", got)
	}
	var tokens []string
	for _, r := range server.requests() {
		tokens = append(tokens, r.Token)
	}
	if diff := cmp.Diff([]string{"token-1", "token-2"}, tokens); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestCredentialsAreUsedToTheirEndWhenSTSRefuses(t *testing.T) {
	server := newSTS(t)
	w := podWorld(server)
	auth := w.auth(t)
	mustRetrieve(t, auth, web)
	server.refuse("InvalidIdentityToken", 400)
	w.advance(58 * time.Minute)
	if got := mustRetrieve(t, auth, web).AccessKeyID; got != "ASIA1" {
		t.Errorf("want the credentials that still hold, got %s", got)
	}
	w.advance(2 * time.Minute)
	if _, err := retrieve(t, auth, web); err == nil {
		t.Error("expired credentials were used")
	}
}

func TestRefusedTokenIsNotRepeated(t *testing.T) {
	server := newSTS(t)
	server.refuse("InvalidIdentityToken", 400)
	_, err := retrieve(t, podWorld(server).auth(t), web)
	if err == nil || !strings.Contains(err.Error(), "InvalidIdentityToken") {
		t.Errorf("want InvalidIdentityToken, got %v", err)
	}
	if strings.Contains(err.Error(), "token-1") {
		t.Error("the error holds the token")
	}
	if n := len(server.requests()); n != 1 {
		t.Errorf("%d calls, want one", n)
	}
}

func TestServerErrorsAreRepeatedAtMostThreeTimes(t *testing.T) {
	server := newSTS(t)
	server.refuse("InternalFailure", 500)
	if _, err := retrieve(t, podWorld(server).auth(t), web); err == nil {
		t.Error("want an error")
	}
	if n := len(server.requests()); n != 3 {
		t.Errorf("%d calls, want three", n)
	}
}

func TestUnreadableTokenIsNamed(t *testing.T) {
	cases := map[string]struct{ content, want string }{
		"a missing file": {"", "there is no such file"},
		"an empty file":  {" \n", "is empty"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := newSTS(t)
			w := podWorld(server)
			delete(w.files, tokenFile)
			if c.content != "" {
				w.files[tokenFile] = c.content
			}
			_, err := retrieve(t, w.auth(t), web)
			var known *awsauth.Error
			if !errors.As(err, &known) || known.Code != fault.CodeTokenUnreadable ||
				!strings.Contains(known.Message, c.want) || !strings.Contains(known.Message, tokenFile) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRegionsShareOneExchange(t *testing.T) {
	server := newSTS(t)
	auth := podWorld(server).auth(t)
	var wait sync.WaitGroup
	for range 8 {
		for _, region := range []string{"", "us-east-1", "eu-west-1"} {
			wait.Go(func() {
				config, err := auth.Config(t.Context(), web.In(region))
				if err == nil {
					_, err = config.Credentials.Retrieve(t.Context())
				}
				if err != nil {
					t.Errorf("%s: %v", region, err)
				}
			})
		}
	}
	wait.Wait()
	if n := len(server.requests()); n != 1 {
		t.Errorf("%d exchanges, want one", n)
	}
}

func TestWaitingForAnExchangeEndsWithTheContext(t *testing.T) {
	server := newSTS(t)
	release := server.hold()
	auth := podWorld(server).auth(t)
	config, err := auth.Config(t.Context(), web)
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() {
		_, err := config.Credentials.Retrieve(t.Context())
		first <- err
	}()
	<-server.arrived
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := config.Credentials.Retrieve(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("want a canceled wait, got %v", err)
	}
	release()
	if err := <-first; err != nil {
		t.Errorf("the exchange itself: %v", err)
	}
}

func TestRoleIsAssumedOnTop(t *testing.T) {
	server := newSTS(t)
	auth := podWorld(server).auth(t)
	got := mustRetrieve(t, auth, web.Assuming(otherRole))
	if got.AccessKeyID != "ASIA2" {
		t.Errorf("want the second exchange's credentials, got %s", got.AccessKeyID)
	}
	want := []request{
		{Action: "AssumeRoleWithWebIdentity", Role: testRole, Session: "tabard-tabard-issuer-abc", Token: "token-1"},
		{Action: "AssumeRole", Role: otherRole, Session: "tabard-tabard-issuer-abc", SignedBy: "ASIA1/us-west-2"},
	}
	if diff := cmp.Diff(want, server.requests()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestEqualIdentitiesShareOneConfiguration(t *testing.T) {
	server := newSTS(t)
	auth := podWorld(server).auth(t)
	one, err := auth.Config(t.Context(), web.In("eu-west-1"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := auth.Config(t.Context(), web.In("eu-west-1"))
	if err != nil {
		t.Fatal(err)
	}
	if one.Credentials != two.Credentials || one.HTTPClient != two.HTTPClient {
		t.Error("equal identities have different credentials or clients")
	}
	if one.Region != "eu-west-1" || one.AppID != "tabard" {
		t.Errorf("region %q, app id %q", one.Region, one.AppID)
	}
}
