package conformance_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal"
)

const (
	account  = "123456789012"
	region   = "us-east-1"
	subject  = "system:serviceaccount:team-a:app"
	audience = "sts.amazonaws.com"
)

// world is what every client finds: a local AWS with the role "pod" for a
// token's subject, the role "operator" for the administrator, both without
// permissions, and enough roles, policies and objects for three pages of ten.
type world struct {
	server *awslocal.Server
	url    string // where the client asks
	folder string // for files of the checks
	token  string // good for the role "pod"
	client *http.Client

	program string // the aws command line
	isOld   bool   // it wants the endpoint as a flag
}

func newWorld(t *testing.T) *world {
	t.Helper()
	issuer, pool, token := newIssuer(t)
	server, err := awslocal.New(awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(server.Start("127.0.0.1:0"), server.StartPlain("127.0.0.1:0")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w := &world{server: server, folder: t.TempDir(), token: token, client: trusting(server.CACertificate())}
	t.Cleanup(w.client.CloseIdleConnections)
	w.write(t, "ca.crt", string(server.CACertificate()))
	w.write(t, "token", token)
	w.makeRoles(t, issuer)
	w.makePages(t)
	return w
}

// trusting is an HTTP client that trusts an authority.
func trusting(authority []byte) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

// newIssuer serves the documents of an issuer of tokens, and signs one token:
// issued two hours ago, for checks that turn the server's clock back.
func newIssuer(t *testing.T) (url string, pool *x509.CertPool, token string) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private, KeyID: "one", Algorithm: "RS256", Use: "sig"}
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	for path, document := range map[string]any{
		"GET /.well-known/openid-configuration": map[string]any{"issuer": server.URL, "jwks_uri": server.URL + "/keys"},
		"GET /keys":                             jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(document) })
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	claims, err := json.Marshal(map[string]any{
		"iss": server.URL, "sub": subject, "aud": []string{audience}, "iat": now - 7200, "nbf": now - 7200, "exp": now + 3600,
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	if token, err = signed.CompactSerialize(); err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server.URL, pool, token
}

func (w *world) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(w.folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const administrator = "arn:aws:iam::" + account + ":user/administrator"

func role(name string) string { return "arn:aws:iam::" + account + ":role/" + name }

func session(role, name string) string {
	return "arn:aws:sts::" + account + ":assumed-role/" + role + "/" + name
}

// userTrust is a trust policy for the administrator.
const userTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + administrator + `"},"Action":"sts:AssumeRole"}]}`

// builder is a configuration of the administrator for what is there at first.
func (w *world) builder() aws.Config {
	key := w.server.Administrator(account)
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(w.server.PlainURL()),
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	}
}

func (w *world) makeRoles(t *testing.T, issuer string) {
	t.Helper()
	client := iam.NewFromConfig(w.builder())
	provider, err := client.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &issuer, ClientIDList: []string{audience},
	})
	if err != nil {
		t.Fatal(err)
	}
	bare := strings.TrimPrefix(issuer, "https://")
	podTrust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"` + *provider.OpenIDConnectProviderArn + `"},
		"Condition":{"StringEquals":{"` + bare + `:sub":"` + subject + `","` + bare + `:aud":"` + audience + `"}}}]}`
	for name, trust := range map[string]string{"pod": podTrust, "operator": userTrust} {
		if _, err := client.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust}); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) makePages(t *testing.T) {
	t.Helper()
	directory := iam.NewFromConfig(w.builder())
	store := s3.NewFromConfig(w.builder(), func(o *s3.Options) { o.UsePathStyle = true })
	for _, bucket := range []string{"pages", "conformance"} {
		if _, err := store.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
			t.Fatal(err)
		}
	}
	document := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]}`
	for i := range 25 {
		name := aws.String(fmt.Sprintf("page-%02d", i))
		_, first := directory.CreateRole(t.Context(), &iam.CreateRoleInput{
			RoleName: name, Path: aws.String("/pages/"), AssumeRolePolicyDocument: aws.String(userTrust),
		})
		_, second := directory.CreatePolicy(t.Context(), &iam.CreatePolicyInput{
			PolicyName: name, Path: aws.String("/pages/"), PolicyDocument: &document,
		})
		_, third := store.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String("pages"), Key: aws.String(fmt.Sprintf("page %02d", i)), Body: strings.NewReader("x"),
		})
		if err := errors.Join(first, second, third); err != nil {
			t.Fatal(err)
		}
	}
}

// environment is what a client is told: the variables that AWS documents, and
// three of ours for the scripts. Nothing else of this machine's AWS set-up is
// visible.
func (w *world) environment() map[string]string {
	key := w.server.Administrator(account)
	nowhere := filepath.Join(w.folder, "none")
	authority := filepath.Join(w.folder, "ca.crt")
	return map[string]string{
		"HOME": w.folder, "PATH": os.Getenv("PATH"), "LC_ALL": "C.UTF-8",
		"AWS_ENDPOINT_URL": w.url, "AWS_REGION": region, "AWS_DEFAULT_REGION": region,
		"AWS_CA_BUNDLE": authority, "NODE_EXTRA_CA_CERTS": authority,
		"AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey,
		"AWS_CONFIG_FILE": nowhere, "AWS_SHARED_CREDENTIALS_FILE": nowhere, "AWS_EC2_METADATA_DISABLED": "true", "AWS_PAGER": "",
		"CONFORMANCE_ACCOUNT": account, "CONFORMANCE_FOLDER": w.folder, "CONFORMANCE_TOKEN_FILE": filepath.Join(w.folder, "token"),
	}
}

// tokenVariables turn the environment's keys into a token file for the role
// "pod"; an empty value takes a variable away.
func (w *world) tokenVariables() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ROLE_ARN": role("pod"), "AWS_ROLE_SESSION_NAME": "chain",
		"AWS_WEB_IDENTITY_TOKEN_FILE": filepath.Join(w.folder, "token"),
	}
}

// profileVariables turn the environment's keys into a profile with the role
// "operator", whose source is a profile with the keys.
func (w *world) profileVariables(t *testing.T) map[string]string {
	t.Helper()
	key := w.server.Administrator(account)
	file := w.write(t, "profiles", strings.Join([]string{
		"[profile base]", "aws_access_key_id = " + key.AccessKeyID, "aws_secret_access_key = " + key.SecretAccessKey,
		"[profile operator]", "role_arn = " + role("operator"), "role_session_name = profile", "source_profile = base", "",
	}, "\n"))
	return map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONFIG_FILE": file, "AWS_PROFILE": "operator"}
}

// ask sends a request as it is.
func (w *world) ask(t *testing.T, method, url, body string, header http.Header) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		request.Header = header
	}
	return w.send(t, request)
}

func (w *world) send(t *testing.T, request *http.Request) (status int, answer string) {
	t.Helper()
	response, err := w.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// moved does something while the server's clock is off.
func (w *world) moved(by time.Duration, action func()) {
	w.server.Admin().AdvanceClock(by)
	defer w.server.Admin().AdvanceClock(-by)
	action()
}

// awaiting runs a waiter, lets the thing appear once the server has refused an
// operation to the waiter, and demands that the waiter succeeds.
func (w *world) awaiting(t *testing.T, operation, code string, wait func() error, appear func()) {
	t.Helper()
	w.server.Admin().ClearJournal()
	done := make(chan error, 1)
	go func() { done <- wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !w.wasRefused(operation, code) {
		select {
		case <-tick.C:
		case err := <-done:
			t.Fatalf("the waiter did not wait: %v; the server answered %+v", err, w.server.Admin().Journal())
		}
	}
	appear()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func (w *world) wasRefused(operation, code string) bool {
	for _, entry := range w.server.Admin().Journal() {
		if entry.Operation == operation && entry.Error == code {
			return true
		}
	}
	return false
}
