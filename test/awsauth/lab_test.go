package awsauth

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crypto/x509"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
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
	aws    *awslocal.Server
	issuer string
	key    *ecdsa.PrivateKey
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
	l := &lab{
		t: t, world: newWorld(nil), key: newKey(t),
		source: newMemory(),
	}
	l.time = time.Now()
	front := l.serveIssuer()
	roots := x509.NewCertPool()
	roots.AddCert(front.Certificate())
	server, err := awslocal.New(awslocal.Options{Accounts: []string{labAccount}, Region: labRegion, TrustedCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if err := server.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	l.aws = server
	l.env = map[string]string{"AWS_REGION": labRegion, "AWS_ENDPOINT_URL": server.URL(), "AWS_CA_BUNDLE": "/ca.pem", "HOSTNAME": "pod"}
	l.files["/ca.pem"] = string(server.CACertificate())
	l.write(tokenFile, l.token(10*time.Minute))
	return l
}

// serveIssuer serves the discovery document and the key.
func (l *lab) serveIssuer() *httptest.Server {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, body any) { _ = json.NewEncoder(w).Encode(body) }
	mux.HandleFunc("GET /issuer/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": l.issuer, "jwks_uri": l.issuer + "/keys"})
	})
	mux.HandleFunc("GET /issuer/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &l.key.PublicKey, KeyID: "one", Algorithm: "ES256", Use: "sig"}}})
	})
	front := httptest.NewTLSServer(mux)
	l.t.Cleanup(front.Close)
	l.issuer = front.URL + "/issuer"
	return front
}

// token is one of the ServiceAccount, good for that long.
func (l *lab) token(life time.Duration) string {
	l.t.Helper()
	now := time.Now()
	return l.sign(map[string]any{
		"iss": l.issuer, "sub": subject, "aud": []string{audience},
		"iat": now.Add(-time.Hour).Unix(), "nbf": now.Add(-time.Hour).Unix(), "exp": now.Add(life).Unix(), "jti": life.String(),
	})
}

func (l *lab) sign(claims map[string]any) string {
	l.t.Helper()
	return awstest.SignToken(l.t, jose.JSONWebKey{Key: l.key, KeyID: "one", Algorithm: string(jose.ES256)}, claims)
}

// administrator is a client of IAM with all rights, which is not made by
// awsauth.
func (l *lab) administrator() *iam.Client {
	key := l.aws.Administrator(labAccount)
	return iam.New(iam.Options{
		Region: labRegion, BaseEndpoint: aws.String(l.aws.PlainURL()),
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	})
}

// webRole makes a role for the ServiceAccount.
func (l *lab) webRole(name string) string {
	l.t.Helper()
	providers, err := l.administrator().ListOpenIDConnectProviders(l.t.Context(), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	if len(providers.OpenIDConnectProviderList) == 0 {
		if _, err := l.administrator().CreateOpenIDConnectProvider(l.t.Context(), &iam.CreateOpenIDConnectProviderInput{
			Url: &l.issuer, ClientIDList: []string{audience},
		}); err != nil {
			l.t.Fatal(err)
		}
	}
	bare := strings.TrimPrefix(l.issuer, "https://")
	return l.role(name, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"arn:aws:iam::`+labAccount+`:oidc-provider/`+bare+`"},
		"Condition":{"StringEquals":{"`+bare+`:sub":"`+subject+`","`+bare+`:aud":"`+audience+`"}}}]}`)
}

func (l *lab) role(name, trust string) string {
	l.t.Helper()
	made, err := l.administrator().CreateRole(l.t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	if err != nil {
		l.t.Fatal(err)
	}
	return *made.Role.Arn
}

// user makes a user, and a key.
func (l *lab) user(name string) (id, secret string) {
	l.t.Helper()
	if _, err := l.administrator().CreateUser(l.t.Context(), &iam.CreateUserInput{UserName: &name}); err != nil {
		l.t.Fatal(err)
	}
	return l.accessKey(name)
}

func (l *lab) accessKey(user string) (id, secret string) {
	l.t.Helper()
	made, err := l.administrator().CreateAccessKey(l.t.Context(), &iam.CreateAccessKeyInput{UserName: &user})
	if err != nil {
		l.t.Fatal(err)
	}
	return *made.AccessKey.AccessKeyId, *made.AccessKey.SecretAccessKey
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
	auth, err := awsauth.New(options)
	if err != nil {
		l.t.Fatal(err)
	}
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
	text, err := json.Marshal(jose.JSONWebKey{Key: &l.key.PublicKey, KeyID: "one", Algorithm: "ES256", Use: "sig"})
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

// podToken is a token of a pod for EKS Pod Identity.
func (l *lab) podToken() string {
	now := time.Now().Unix()
	return l.sign(map[string]any{
		"iss": l.issuer, "sub": "system:serviceaccount:team-a:app", "aud": []string{"pods.eks.amazonaws.com"},
		"iat": now, "nbf": now, "exp": now + 3600,
		"kubernetes.io": map[string]any{
			"namespace": "team-a", "serviceaccount": map[string]any{"name": "app", "uid": "1"},
			"pod": map[string]any{"name": "app-1", "uid": "2"},
		},
	})
}
