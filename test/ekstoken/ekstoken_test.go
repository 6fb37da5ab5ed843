// Package ekstoken gives our tokens, and hostile ones, to the verifier of
// sigs.k8s.io/aws-iam-authenticator. It is a module of its own because that program has
// requirements that ours must not have.
package ekstoken

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/aws-iam-authenticator/pkg/token"

	"github.com/tabard-dev/tabard/awslocal"
	app "github.com/tabard-dev/tabard/internal/app/ekstoken"
	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/ekscase"
)

const cluster = "eks-hub"

// through makes the verifier's calls to STS go through a transport: its client has none
// of its own.
func through(t *testing.T, transport http.RoundTripper) {
	t.Helper()
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	http.DefaultTransport = transport
}

// answer is an STS that answers one text.
type answer struct {
	status int
	body   string
	hosts  []string
}

func (a *answer) RoundTrip(r *http.Request) (*http.Response, error) {
	a.hosts = append(a.hosts, r.URL.Host)
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Location": {"https://evil.example/"}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}, nil
}

func verify(t *testing.T, c ekscase.Case) (*token.Identity, []string, error) {
	t.Helper()
	sts := &answer{status: c.Status, body: c.Body}
	through(t, sts)
	who, err := token.NewVerifier(cluster, "aws", ekscase.Region).Verify(c.Token)
	return who, sts.hosts, err
}

func TestTheAuthenticatorRefusesTheSameTokens(t *testing.T) {
	for name, c := range ekscase.Hostile(time.Now()) {
		if who, hosts, err := verify(t, c); err == nil {
			t.Errorf("%s: taken for %+v, of %v", name, who, hosts)
		}
	}
}

func TestTheAuthenticatorTakesTheSameTokens(t *testing.T) {
	for name, c := range ekscase.Good(time.Now()) {
		who, _, err := verify(t, c)
		if err != nil || who.ARN != ekscase.ARN || who.CanonicalARN != ekscase.Canonical || who.AccountID != ekscase.Account ||
			who.UserID != ekscase.ID || who.SessionName != ekscase.Session || who.AccessKeyID != ekscase.Key {
			t.Errorf("%s: got %+v, %v", name, who, err)
		}
	}
}

// TestTheAuthenticatorTakesOurTokens: a token that we make, at the host that AWS has in
// the region, asked of a local AWS that verifies the signature.
func TestTheAuthenticatorTakesOurTokens(t *testing.T) {
	awstest.Isolate(t)
	lab := awstest.Start(t, awslocal.Options{Accounts: []string{ekscase.Account}, Region: ekscase.Region})
	key := lab.Administrator(ekscase.Account)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey,
		"AWS_CONFIG_FILE": "", "AWS_SHARED_CREDENTIALS_FILE": "", "HOME": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	through(t, lab.Client().Transport)
	made, _, err := app.Mint(t.Context(), eks.Wish{Cluster: cluster, Region: ekscase.Region})
	if err != nil {
		t.Fatal(err)
	}
	who, err := token.NewVerifier(cluster, "aws", ekscase.Region).Verify(made)
	if want := "arn:aws:iam::111111111111:user/administrator"; err != nil || who.CanonicalARN != want || who.AccessKeyID != key.AccessKeyID {
		t.Errorf("got %+v, %v; want %s", who, err, want)
	}
	if who, err := token.NewVerifier("another", "aws", ekscase.Region).Verify(made); err == nil {
		t.Errorf("another cluster takes it for %+v", who)
	}
}
