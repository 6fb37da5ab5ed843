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
	"github.com/aws/aws-sdk-go-v2/service/eks"
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
// permissions, a cluster whose pods have the role "agent", and enough roles, policies and objects for three pages of ten.
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
	issuer := newIssuer(t)
	server, err := awslocal.New(awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: issuer.pool()})
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
	w := &world{server: server, folder: t.TempDir(), token: issuer.token(t, audience), client: trusting(server.CACertificate())}
	t.Cleanup(w.client.CloseIdleConnections)
	w.write(t, "ca.crt", string(server.CACertificate()))
	w.write(t, "token", w.token)
	w.write(t, "agent-token", issuer.token(t, "pods.eks.amazonaws.com"))
	w.makeRoles(t, issuer.server.URL)
	w.makeCluster(t, issuer)
	w.makePages(t)
	return w
}

// trusting is an HTTP client that trusts an authority.
func trusting(authority []byte) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

// issuer is one of tokens, whose documents are served.
type issuer struct {
	server *httptest.Server
	signer jose.Signer
	keys   []byte // the public ones, a JSON Web Key Set
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	private := must[*rsa.PrivateKey](t)(rsa.GenerateKey(rand.Reader, 2048))
	key := jose.JSONWebKey{Key: private, KeyID: "one", Algorithm: "RS256", Use: "sig"}
	mux := http.NewServeMux()
	i := &issuer{
		server: httptest.NewTLSServer(mux),
		signer: must[jose.Signer](t)(jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, nil)),
		keys:   must[[]byte](t)(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}})),
	}
	t.Cleanup(i.server.Close)
	discovery := must[[]byte](t)(json.Marshal(map[string]string{"issuer": i.server.URL, "jwks_uri": i.server.URL + "/keys"}))
	for path, document := range map[string][]byte{"GET /.well-known/openid-configuration": discovery, "GET /keys": i.keys} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(document) })
	}
	return i
}

// token is that of a pod of team-a/app for an audience. It was issued two hours
// ago, for checks that turn the server's clock back.
func (i *issuer) token(t *testing.T, audience string) string {
	t.Helper()
	now := time.Now().Unix()
	claims := must[[]byte](t)(json.Marshal(map[string]any{
		"iss": i.server.URL, "sub": subject, "aud": []string{audience}, "iat": now - 7200, "nbf": now - 7200, "exp": now + 3600,
		"kubernetes.io": map[string]any{
			"namespace":      "team-a",
			"pod":            map[string]any{"name": "app-7d9f", "uid": "3a1f1a52-0000-4000-8000-000000000001"},
			"serviceaccount": map[string]any{"name": "app", "uid": "3a1f1a52-0000-4000-8000-000000000002"},
		},
	}))
	signed := must[*jose.JSONWebSignature](t)(i.signer.Sign(claims))
	return must[string](t)(signed.CompactSerialize())
}

func (i *issuer) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.server.Certificate())
	return pool
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
	agentTrust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},
		"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	for name, trust := range map[string]string{"pod": podTrust, "operator": userTrust, "agent": agentTrust} {
		if _, err := client.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust}); err != nil {
			t.Fatal(err)
		}
	}
}

// makeCluster registers a cluster whose pods of team-a/app have the role "agent".
func (w *world) makeCluster(t *testing.T, issuer *issuer) {
	t.Helper()
	if err := w.server.Admin().AddCluster(awslocal.Cluster{Name: "cluster-a", Issuer: issuer.server.URL, JWKS: issuer.keys}); err != nil {
		t.Fatal(err)
	}
	_, err := eks.NewFromConfig(w.builder()).CreatePodIdentityAssociation(t.Context(), &eks.CreatePodIdentityAssociationInput{
		ClusterName: aws.String("cluster-a"), Namespace: aws.String("team-a"), ServiceAccount: aws.String("app"), RoleArn: aws.String(role("agent")),
	})
	if err != nil {
		t.Fatal(err)
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
// some of ours for the scripts. Nothing else of this machine's AWS set-up is
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
		"CONFORMANCE_AGENT": w.server.PlainURL() + "/v1/credentials", "CONFORMANCE_AGENT_TOKEN_FILE": filepath.Join(w.folder, "agent-token"),
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

// agentVariables turn the environment's keys into what a pod with an association
// has. The agent speaks plain HTTP, as it does on a node.
func (w *world) agentVariables() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI":     w.server.PlainURL() + "/v1/credentials",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": filepath.Join(w.folder, "agent-token"),
	}
}

// isAgentSession demands that an ARN is a session of a pod of the cluster.
func isAgentSession(t *testing.T, arn string) {
	t.Helper()
	if want := session("agent", "eks-cluster-a-app-7d9f-"); !strings.HasPrefix(arn, want) {
		t.Errorf("the caller is %s, want %s and more", arn, want)
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
