package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
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
	*awstest.Lab
	url    string // where the client asks
	token  string // good for the role "pod"
	client *http.Client

	program string // the aws command line
	isOld   bool   // it wants the endpoint as a flag
}

func newWorld(t *testing.T) *world {
	t.Helper()
	issuer := awstest.StartIssuer(t, awstest.RSAKey(t, "one"))
	lab := awstest.Start(t, awslocal.Options{Accounts: []string{account}, Region: region, TrustedCAs: issuer.Roots()})
	w := &world{Lab: lab, token: token(t, issuer, audience), client: lab.Client()}
	w.Write("token", w.token)
	w.Write("agent-token", token(t, issuer, "pods.eks.amazonaws.com"))
	w.makeRoles(issuer.Issuer())
	w.makeCluster(t, issuer)
	w.makePages(t)
	return w
}

// token is that of a pod of team-a/app for an audience. It was issued two hours
// ago, for checks that turn the server's clock back.
func token(t *testing.T, issuer *awstest.Issuer, audience string) string {
	t.Helper()
	now, claims := time.Now().Unix(), issuer.Claims(subject, audience)
	claims["iat"], claims["nbf"], claims["exp"] = now-7200, now-7200, now+3600
	claims["kubernetes.io"] = map[string]any{
		"namespace":      "team-a",
		"pod":            map[string]any{"name": "app-7d9f", "uid": "3a1f1a52-0000-4000-8000-000000000001"},
		"serviceaccount": map[string]any{"name": "app", "uid": "3a1f1a52-0000-4000-8000-000000000002"},
	}
	return issuer.Sign(t, 0, claims)
}

const administrator = "arn:aws:iam::" + account + ":user/administrator"

func role(name string) string { return "arn:aws:iam::" + account + ":role/" + name }

func session(role, name string) string {
	return "arn:aws:sts::" + account + ":assumed-role/" + role + "/" + name
}

// userTrust is a trust policy for the administrator.
const userTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + administrator + `"},"Action":"sts:AssumeRole"}]}`

// builder is a configuration of the administrator for what is there at first.
func (w *world) builder() aws.Config { return w.As(w.Administrator(account)) }

func (w *world) makeRoles(issuer string) {
	podTrust := awstest.Trust(w.Provider(account, issuer, audience), subject, audience)
	agentTrust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},
		"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	for name, trust := range map[string]string{"pod": podTrust, "operator": userTrust, "agent": agentTrust} {
		w.Role(account, name, trust, "")
	}
}

// makeCluster registers a cluster whose pods of team-a/app have the role "agent".
func (w *world) makeCluster(t *testing.T, issuer *awstest.Issuer) {
	t.Helper()
	keys := must[[]byte](t)(json.Marshal(awstest.KeySet(issuer.Keys()...)))
	w.Must(nil, w.Admin().AddCluster(awslocal.Cluster{Name: "cluster-a", Issuer: issuer.Issuer(), JWKS: keys}))
	w.Must(eks.NewFromConfig(w.builder()).CreatePodIdentityAssociation(t.Context(), &eks.CreatePodIdentityAssociationInput{
		ClusterName: aws.String("cluster-a"), Namespace: aws.String("team-a"), ServiceAccount: aws.String("app"), RoleArn: aws.String(role("agent")),
	}))
}

func (w *world) makePages(t *testing.T) {
	t.Helper()
	directory := iam.NewFromConfig(w.builder())
	store := s3.NewFromConfig(w.builder(), func(o *s3.Options) { o.UsePathStyle = true })
	for _, bucket := range []string{"pages", "conformance"} {
		w.Must(store.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}))
	}
	document := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]}`
	for i := range 25 {
		name := aws.String(fmt.Sprintf("page-%02d", i))
		w.Must(directory.CreateRole(t.Context(), &iam.CreateRoleInput{
			RoleName: name, Path: aws.String("/pages/"), AssumeRolePolicyDocument: aws.String(userTrust),
		}))
		w.Must(directory.CreatePolicy(t.Context(), &iam.CreatePolicyInput{
			PolicyName: name, Path: aws.String("/pages/"), PolicyDocument: &document,
		}))
		w.Must(store.PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String("pages"), Key: aws.String(fmt.Sprintf("page %02d", i)), Body: strings.NewReader("x"),
		}))
	}
}

// environment is what a client is told: the variables that AWS documents, and
// some of ours for the scripts. Nothing else of this machine's AWS set-up is
// visible.
func (w *world) environment() map[string]string {
	key := w.Administrator(account)
	nowhere := w.Path("none")
	authority := w.Path("ca.crt")
	return map[string]string{
		"HOME": w.Path(""), "PATH": os.Getenv("PATH"), "LC_ALL": "C.UTF-8",
		"AWS_ENDPOINT_URL": w.url, "AWS_REGION": region, "AWS_DEFAULT_REGION": region,
		"AWS_CA_BUNDLE": authority, "NODE_EXTRA_CA_CERTS": authority,
		"AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey,
		"AWS_CONFIG_FILE": nowhere, "AWS_SHARED_CREDENTIALS_FILE": nowhere, "AWS_EC2_METADATA_DISABLED": "true", "AWS_PAGER": "",
		"CONFORMANCE_ACCOUNT": account, "CONFORMANCE_FOLDER": w.Path(""), "CONFORMANCE_TOKEN_FILE": w.Path("token"),
		"CONFORMANCE_AGENT": w.PlainURL() + "/v1/credentials", "CONFORMANCE_AGENT_TOKEN_FILE": w.Path("agent-token"),
	}
}

// tokenVariables turn the environment's keys into a token file for the role
// "pod"; an empty value takes a variable away.
func (w *world) tokenVariables() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ROLE_ARN": role("pod"), "AWS_ROLE_SESSION_NAME": "chain",
		"AWS_WEB_IDENTITY_TOKEN_FILE": w.Path("token"),
	}
}

// agentVariables turn the environment's keys into what a pod with an association
// has. The agent speaks plain HTTP, as it does on a node.
func (w *world) agentVariables() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI":     w.PlainURL() + "/v1/credentials",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": w.Path("agent-token"),
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
	key := w.Administrator(account)
	file := w.Write("profiles", strings.Join([]string{
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
	status, _, answer = w.Send(w.client, request)
	return status, answer
}

// moved does something while the server's clock is off.
func (w *world) moved(by time.Duration, action func()) {
	w.Admin().AdvanceClock(by)
	defer w.Admin().AdvanceClock(-by)
	action()
}

// awaiting runs a waiter, lets the thing appear once the server has refused an
// operation to the waiter, and demands that the waiter succeeds.
func (w *world) awaiting(t *testing.T, operation, code string, wait func() error, appear func()) {
	t.Helper()
	w.Admin().ClearJournal()
	done := make(chan error, 1)
	go func() { done <- wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !w.wasRefused(operation, code) {
		select {
		case <-tick.C:
		case err := <-done:
			t.Fatalf("the waiter did not wait: %v; the server answered %+v", err, w.Admin().Journal())
		}
	}
	appear()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func (w *world) wasRefused(operation, code string) bool {
	for _, entry := range w.Admin().Journal() {
		if entry.Operation == operation && entry.Error == code {
			return true
		}
	}
	return false
}
