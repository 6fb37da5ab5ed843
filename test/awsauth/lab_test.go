package awsauth

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	labAccount = "123456789012"
	labRegion  = "eu-central-1"
	subject    = "system:serviceaccount:tabard:capacity"
	audience   = "sts.amazonaws.com"
	// openshiftToken is where operators of OpenShift mount their token.
	openshiftToken = "/var/run/secrets/openshift/serviceaccount/token"
)

// lab is the local AWS with an issuer that it trusts, and a process in front of
// it: environment, files, Secrets and clock.
type lab struct {
	*world
	t      *testing.T
	aws    *awstest.Lab
	issuer *awstest.Issuer
	source *memory
	auth   *awsauth.Auth
	passed time.Duration
}

// pass lets AWS's sessions grow older. Signatures and tokens stay good: the
// SDK and the issuer of this test keep to the real time.
func (l *lab) pass(d time.Duration) {
	l.passed += d
	l.aws.Admin().AdvanceClock(d)
	l.aws.Admin().SetSignatureClockOffset(-l.passed)
	l.aws.Admin().SetTokenClockOffset(-l.passed)
}

// newLab starts a local AWS; its clock and the process's are the real one until
// a test moves them.
func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, world: newWorld(nil), issuer: awstest.StartIssuer(t, awstest.ECKey(t, "one")), source: newMemory()}
	l.time = time.Now()
	l.aws = awstest.Start(t, awslocal.Options{Accounts: []string{labAccount}, Region: labRegion, TrustedCAs: l.issuer.Roots()})
	l.env = map[string]string{"AWS_REGION": labRegion, "AWS_ENDPOINT_URL": l.aws.URL(), "AWS_CA_BUNDLE": "/ca.pem", "HOSTNAME": "pod"}
	l.files["/ca.pem"] = string(l.aws.CACertificate())
	l.write(tokenFile, l.token(10*time.Minute))
	return l
}

// token is one of the ServiceAccount, good for that long.
func (l *lab) token(life time.Duration) string {
	l.t.Helper()
	now := time.Now()
	return l.issuer.Sign(l.t, 0, map[string]any{
		"iss": l.issuer.Issuer(), "sub": subject, "aud": []string{audience},
		"iat": now.Add(-time.Hour).Unix(), "nbf": now.Add(-time.Hour).Unix(), "exp": now.Add(life).Unix(), "jti": life.String(),
	})
}

// administrator is a client of IAM with all rights, which is not made by
// awsauth.
func (l *lab) administrator() *iam.Client { return l.aws.IAM(labAccount) }

// webRole makes a role for the ServiceAccount.
func (l *lab) webRole(name string) string {
	l.t.Helper()
	return l.role(name, l.trustOf(subject))
}

// trustOf is a trust policy for tokens about a subject.
func (l *lab) trustOf(subject string) string {
	l.t.Helper()
	if providers := must.Get(l.administrator().ListOpenIDConnectProviders(l.t.Context(), nil))(l.t).OpenIDConnectProviderList; len(providers) > 0 {
		return awstest.Trust(*providers[0].Arn, subject, audience)
	}
	return awstest.Trust(l.aws.Provider(labAccount, l.issuer.Issuer(), audience), subject, audience)
}

func (l *lab) role(name, trust string) string {
	l.t.Helper()
	return l.aws.Role(labAccount, name, trust, "")
}

// user makes a user, and a key.
func (l *lab) user(name string) (id, secret string) {
	l.t.Helper()
	l.aws.User(labAccount, name, "")
	return l.accessKey(name)
}

func (l *lab) accessKey(user string) (id, secret string) {
	l.t.Helper()
	key := l.aws.Key(labAccount, user)
	return key.AccessKeyID, key.SecretAccessKey
}

// asWeb gives the process a web identity.
func (l *lab) asWeb() {
	l.env["AWS_ROLE_ARN"], l.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = l.webRole("web"), tokenFile
}

// start makes the process's Auth and forgets the calls so far.
func (l *lab) start(change ...func(*awsauth.Options)) {
	l.t.Helper()
	options := l.options()
	options.Source = l.source
	options.Chance = func() float64 { return 0 }
	for _, one := range change {
		one(&options)
	}
	auth := must.Get(awsauth.New(options))(l.t)
	l.auth = auth
	l.aws.Admin().ClearJournal()
}

// who is the ARN that STS sees, or the error.
func (l *lab) who(id identity.Identity) (string, error) {
	config, err := l.auth.Config(l.t.Context(), id)
	if err != nil {
		return "", err
	}
	out, err := sts.NewFromConfig(config).GetCallerIdentity(l.t.Context(), nil)
	if err != nil {
		return "", err
	}
	return *out.Arn, nil
}

func (l *lab) wantWho(id identity.Identity, want string) {
	l.t.Helper()
	if got, err := l.who(id); err != nil || got != want {
		l.t.Errorf("the caller is %q, want %q: %v", got, want, err)
	}
}

// calls are the journal's, as OPERATION by CALLER, with the error.
func (l *lab) calls() []string {
	var out []string
	for _, e := range l.aws.Admin().Journal() {
		line := e.Operation + " by " + e.Caller
		if e.Error != "" {
			line += " " + e.Error
		}
		out = append(out, line)
	}
	return out
}

// exchanges counts the calls that give credentials.
func (l *lab) exchanges() int {
	n := 0
	for _, e := range l.aws.Admin().Journal() {
		if strings.HasPrefix(e.Operation, "AssumeRole") {
			n++
		}
	}
	return n
}

func assumed(role, session string) string {
	return "arn:aws:sts::" + labAccount + ":assumed-role/" + role + "/" + session
}

// publicKey is the issuer's key as it is published.
func (l *lab) publicKey() string {
	l.t.Helper()
	text := must.Get(json.Marshal(l.issuer.Keys()[0].Public()))(l.t)
	return string(text)
}

// podToken is a token of a pod for EKS Pod Identity.
func (l *lab) podToken() string {
	now := time.Now().Unix()
	return l.issuer.Sign(l.t, 0, map[string]any{
		"iss": l.issuer.Issuer(), "sub": "system:serviceaccount:team-a:app", "aud": []string{"pods.eks.amazonaws.com"},
		"iat": now, "nbf": now, "exp": now + 3600,
		"kubernetes.io": map[string]any{
			"namespace": "team-a", "serviceaccount": map[string]any{"name": "app", "uid": "1"},
			"pod": map[string]any{"name": "app-1", "uid": "2"},
		},
	})
}
