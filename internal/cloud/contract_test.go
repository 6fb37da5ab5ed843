package cloud_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/bucket"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The contract of every adapter, run against the local AWS: the happy way, the
// absent thing, the one that exists already, the denied call, the throttled one
// and the list of several pages.

const (
	ownAccount   = "123456789012"
	otherAccount = "210987654321"
	ownURL       = "https://issuer.example/own"
	region       = "us-west-2"
)

var person = identity.Identity{Base: identity.Session, Region: region}

// lab is a local AWS with all adapters on it, called by the administrator of
// one account.
type lab struct {
	aws  *awslocal.Server
	auth *awsauth.Auth
	// refusal is answered instead of the AWS's own answers, nil for none.
	refusal *atomic.Pointer[refusal]
	// calls counts the requests.
	calls *atomic.Int64
	// unowned are those to S3 that do not say whose the bucket has to be.
	unowned *requests

	buckets   *bucket.Buckets
	providers *oidcprovider.Providers
	roles     *iamrole.Roles
	accounts  *caller.Accounts
}

// refusal is an answer of a service that has enough of us.
type refusal struct {
	status int
	body   string
}

// requests are requests by method and URL.
type requests struct {
	mu   sync.Mutex
	list []string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{Accounts: []string{ownAccount, otherAccount}, Region: region})
	if err != nil {
		t.Fatalf("awslocal: %v", err)
	}
	l := &lab{aws: server, refusal: &atomic.Pointer[refusal]{}, calls: &atomic.Int64{}, unowned: &requests{}}
	front := httptest.NewTLSServer(l.middleware(server.Handler()))
	t.Cleanup(front.Close)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	must.Do(t, os.WriteFile(bundle, certificate, 0o600))
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": front.URL, "AWS_CA_BUNDLE": bundle, "AWS_REGION": region, "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_SESSION_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
	return l.as(t, ownAccount)
}

// as is the same AWS seen by the administrator of an account.
func (l *lab) as(t *testing.T, account string) *lab {
	t.Helper()
	administrator := l.aws.Administrator(account)
	return l.with(t, administrator.AccessKeyID, administrator.SecretAccessKey)
}

// with is the same AWS seen by the holder of a key.
func (l *lab) with(t *testing.T, accessKeyID, secret string) *lab {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", accessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	auth, err := awsauth.New(awsauth.Options{})
	if err != nil {
		t.Fatalf("awsauth: %v", err)
	}
	if _, err := auth.Config(t.Context(), person); err != nil {
		t.Fatalf("awsauth: %v", err)
	}
	out := *l
	out.auth = auth
	out.buckets, out.providers = bucket.New(auth), oidcprovider.New(auth)
	out.roles, out.accounts = iamrole.New(auth), caller.New(auth)
	return &out
}

func (l *lab) config(t *testing.T) aws.Config {
	t.Helper()
	config := must.Get(l.auth.Config(t.Context(), person))(t)
	return config
}

func (l *lab) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.calls.Add(1)
		if r.Header.Get("X-Amz-Expected-Bucket-Owner") == "" && strings.Contains(r.Header.Get("Authorization"), "/s3/aws4_request") {
			l.unowned.mu.Lock()
			l.unowned.list = append(l.unowned.list, r.Method+" "+r.URL.String())
			l.unowned.mu.Unlock()
		}
		if no := l.refusal.Load(); no != nil {
			w.Header().Set("Content-Type", "text/xml")
			w.WriteHeader(no.status)
			_, _ = w.Write([]byte(no.body))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// powerless is a role of the account that may do nothing.
func (l *lab) powerless(t *testing.T) identity.Identity {
	t.Helper()
	arn, _, err := l.roles.Ensure(t.Context(), person, iamrole.Want{
		RoleWant: cloud.RoleWant{Name: "powerless", Trust: trustOfAccount(ownAccount)}, Owner: owner, PolicyName: "nothing",
		Policy: `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"s3:*","Resource":"*"}]}`,
	})
	if err != nil {
		t.Fatalf("the role without rights: %v", err)
	}
	return person.Assuming(arn)
}

func trustOfAccount(account string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole",` +
		`"Principal":{"AWS":"arn:aws:iam::` + account + `:root"}}]}`
}

// wantFault demands a fault of that class from that operation.
func wantFault(t *testing.T, err error, class fault.Class, operation string) {
	t.Helper()
	var known fault.Fault
	if !errors.As(err, &known) {
		t.Errorf("want a fault %s of %s, got %v", class, operation, err)
		return
	}
	if known.Class != class || known.Operation != operation {
		t.Errorf("want a fault %s of %s, got %s: %v", class, operation, known.Class, known)
	}
	if known.Service == "" || known.Message == "" && known.Code == "" {
		t.Errorf("the fault does not say what happened: %+v", known)
	}
}
