// Package awslocaleks_test asks the local EKS, EKS Auth and Pod Identity agent
// with clients that are not ours: the AWS SDK for Go and the aws command line.
package awslocaleks_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const (
	ours    = "123456789012"
	theirs  = "111122223333"
	region  = "eu-central-1"
	issuer  = "https://oidc.lab.test/cluster"
	cluster = "lab"

	clusterARN = "arn:aws:eks:" + region + ":" + ours + ":cluster/" + cluster
	podTrust   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
)

// lab is a local AWS with one registered cluster, whose tokens it signs.
type lab struct {
	t      *testing.T
	server *awslocal.Server
	key    jose.JSONWebKey
	folder string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	awstest.Isolate(t)
	server, err := awslocal.New(awslocal.Options{Accounts: []string{ours, theirs}, Region: region})
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
	l := &lab{t: t, server: server, key: newKey(t), folder: t.TempDir()}
	l.register(awslocal.Cluster{Account: ours, Name: cluster, Issuer: issuer, JWKS: keySet(t, l.key)})
	return l
}

func newKey(t *testing.T) jose.JSONWebKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: "one", Algorithm: "RS256", Use: "sig"}
}

func keySet(t *testing.T, key jose.JSONWebKey) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (l *lab) register(c awslocal.Cluster) {
	l.t.Helper()
	if err := l.server.Admin().AddCluster(c); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) write(name, content string) string {
	l.t.Helper()
	path := filepath.Join(l.folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// client is an HTTP client that trusts the local AWS.
func (l *lab) client() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.server.CACertificate())
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs = pool
	return &http.Client{Transport: awstest.PlainBodies(transport)}
}

// config is the SDK's configuration with a key; the default chain's without one.
func (l *lab) config(keys ...aws.Credentials) aws.Config {
	l.t.Helper()
	options := []func(*config.LoadOptions) error{
		config.WithRegion(region), config.WithBaseEndpoint(l.server.URL()), config.WithHTTPClient(l.client()), config.WithRetryMaxAttempts(1),
	}
	for _, key := range keys {
		options = append(options, config.WithCredentialsProvider(credentials.StaticCredentialsProvider{Value: key}))
	}
	cfg, err := config.LoadDefaultConfig(l.t.Context(), options...)
	if err != nil {
		l.t.Fatal(err)
	}
	return cfg
}

func (l *lab) administrator(account string) aws.Credentials {
	key := l.server.Administrator(account)
	return aws.Credentials{AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey}
}

func (l *lab) eks(keys ...aws.Credentials) *eks.Client {
	if len(keys) == 0 {
		keys = []aws.Credentials{l.administrator(ours)}
	}
	return eks.NewFromConfig(l.config(keys...))
}

func (l *lab) iam(account string) *iam.Client {
	return iam.NewFromConfig(l.config(l.administrator(account)))
}

// role makes a role with a policy, empty for none.
func (l *lab) role(account, name, trust, policy string) string {
	l.t.Helper()
	made, err := l.iam(account).CreateRole(l.t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	if err != nil {
		l.t.Fatal(err)
	}
	if policy != "" {
		_, err = l.iam(account).PutRolePolicy(l.t.Context(), &iam.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("inline"), PolicyDocument: &policy})
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return *made.Role.Arn
}

func (l *lab) deleteRole(account, name string) {
	l.t.Helper()
	_, err := l.iam(account).DeleteRolePolicy(l.t.Context(), &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: aws.String("inline")})
	if err != nil && !strings.HasPrefix(refusal(err), "NoSuchEntity") {
		l.t.Fatal(err)
	}
	if _, err := l.iam(account).DeleteRole(l.t.Context(), &iam.DeleteRoleInput{RoleName: &name}); err != nil {
		l.t.Fatal(err)
	}
}

// user makes a user with a policy and returns its key.
func (l *lab) user(name, policy string) aws.Credentials {
	l.t.Helper()
	client, ctx := l.iam(ours), l.t.Context()
	if _, err := client.CreateUser(ctx, &iam.CreateUserInput{UserName: &name}); err != nil {
		l.t.Fatal(err)
	}
	if policy != "" {
		if _, err := client.PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: &name, PolicyName: aws.String("inline"), PolicyDocument: &policy}); err != nil {
			l.t.Fatal(err)
		}
	}
	made, err := client.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: &name})
	if err != nil {
		l.t.Fatal(err)
	}
	return aws.Credentials{AccessKeyID: *made.AccessKey.AccessKeyId, SecretAccessKey: *made.AccessKey.SecretAccessKey}
}

// associate gives the pods of team-a/app a role.
func (l *lab) associate(role string, change ...func(*eks.CreatePodIdentityAssociationInput)) string {
	l.t.Helper()
	in := &eks.CreatePodIdentityAssociationInput{
		ClusterName: aws.String(cluster), Namespace: aws.String("team-a"), ServiceAccount: aws.String("app"), RoleArn: &role,
	}
	for _, one := range change {
		one(in)
	}
	made, err := l.eks().CreatePodIdentityAssociation(l.t.Context(), in)
	if err != nil {
		l.t.Fatal(err)
	}
	return *made.Association.AssociationId
}

// caller is who a key belongs to, or why it opens nothing.
func (l *lab) caller(key aws.Credentials) string {
	l.t.Helper()
	out, err := sts.NewFromConfig(l.config(key)).GetCallerIdentity(l.t.Context(), nil)
	if err != nil {
		return refusal(err)
	}
	return *out.Arn
}

// refusal is the code and text of an error of AWS.
func refusal(err error) string {
	var fault smithy.APIError
	if !errors.As(err, &fault) {
		if err == nil {
			return ""
		}
		return "no answer of AWS: " + err.Error()
	}
	return fault.ErrorCode() + ": " + fault.ErrorMessage()
}

// do sends a request and returns the answer's status, headers and body.
func (l *lab) do(r *http.Request) (int, http.Header, string) {
	l.t.Helper()
	response, err := l.client().Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	var body bytes.Buffer
	_, err = io.Copy(&body, response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		l.t.Fatal(err)
	}
	return response.StatusCode, response.Header, body.String()
}

func seconds(at float64) time.Time { return time.Unix(int64(at), 0) }
