// Package awslocal_test asks the local AWS with the clients that people use: the
// official Go SDK and the aws command line. Nothing of ours is on their side.
package awslocal_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const (
	account  = "123456789012"
	stranger = "111122223333"
	audience = "sts.amazonaws.com"
	subject  = "system:serviceaccount:team-a:app"
)

// lab is a local AWS with an issuer of tokens.
type lab struct {
	t      *testing.T
	server *awslocal.Server
	issuer *issuer
	folder string
}

func newLab(t *testing.T, change ...func(*awslocal.Options)) *lab {
	t.Helper()
	awstest.Isolate(t)
	l := &lab{t: t, issuer: newIssuer(t), folder: t.TempDir()}
	options := awslocal.Options{Accounts: []string{account, stranger}, TrustedCAs: l.issuer.pool()}
	for _, one := range change {
		one(&options)
	}
	server, err := awslocal.New(options)
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
	l.server = server
	l.write("ca.crt", string(server.CACertificate()))
	return l
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

// config is the SDK's default configuration, pointed to a URL.
func (l *lab) config(url string, options ...func(*config.LoadOptions) error) aws.Config {
	l.t.Helper()
	options = append([]func(*config.LoadOptions) error{
		config.WithRegion("eu-central-1"), config.WithBaseEndpoint(url), config.WithHTTPClient(l.client()), config.WithRetryMaxAttempts(1),
	}, options...)
	cfg, err := config.LoadDefaultConfig(l.t.Context(), options...)
	if err != nil {
		l.t.Fatal(err)
	}
	return cfg
}

func static(key awslocal.Credentials) func(*config.LoadOptions) error {
	return config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""))
}

// administrator is a configuration of an account's administrator.
func (l *lab) administrator(account string) aws.Config {
	return l.config(l.server.URL(), static(l.server.Administrator(account)))
}

func (l *lab) iam() *iam.Client { return iam.NewFromConfig(l.administrator(account)) }

// anonymous asks STS without credentials.
func (l *lab) anonymous() *sts.Client {
	return sts.NewFromConfig(l.config(l.server.URL(), config.WithCredentialsProvider(aws.AnonymousCredentials{})))
}

// provider registers the issuer.
func (l *lab) provider() string {
	l.t.Helper()
	made, err := l.iam().CreateOpenIDConnectProvider(l.t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(l.issuer.url()), ClientIDList: []string{audience},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return *made.OpenIDConnectProviderArn
}

// trust is a trust policy for one subject of the issuer.
func (l *lab) trust(providerARN string) string {
	bare := strings.TrimPrefix(l.issuer.url(), "https://")
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"` + providerARN + `"},
		"Condition":{"StringEquals":{"` + bare + `:sub":"` + subject + `","` + bare + `:aud":"` + audience + `"}}}]}`
}

func (l *lab) role(name, trust string) string {
	l.t.Helper()
	made, err := l.iam().CreateRole(l.t.Context(), &iam.CreateRoleInput{RoleName: aws.String(name), AssumeRolePolicyDocument: aws.String(trust)})
	if err != nil {
		l.t.Fatal(err)
	}
	return *made.Role.Arn
}

func (l *lab) policy(role, document string) {
	l.t.Helper()
	_, err := l.iam().PutRolePolicy(l.t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String(role), PolicyName: aws.String("inline"), PolicyDocument: aws.String(document),
	})
	if err != nil {
		l.t.Fatal(err)
	}
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

// issuer serves the two documents and signs tokens.
type issuer struct {
	server *httptest.Server

	mu   sync.Mutex
	keys []jose.JSONWebKey
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{}
	i.keys = []jose.JSONWebKey{{Key: rsaKey(t), KeyID: "one", Algorithm: "RS256", Use: "sig"}, {Key: ecKey(t), KeyID: "two", Algorithm: "ES256", Use: "sig"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /issuer/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{"issuer": i.url(), "jwks_uri": i.url() + "/keys"})
	})
	mux.HandleFunc("GET /issuer/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		set := jose.JSONWebKeySet{}
		for _, key := range i.keys {
			set.Keys = append(set.Keys, key.Public())
		}
		write(w, set)
	})
	i.server = httptest.NewTLSServer(mux)
	t.Cleanup(i.server.Close)
	return i
}

func write(w http.ResponseWriter, body any) { _ = json.NewEncoder(w).Encode(body) }

func (i *issuer) url() string { return i.server.URL + "/issuer" }

func (i *issuer) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.server.Certificate())
	return pool
}

func rsaKey(t *testing.T) crypto.Signer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ecKey(t *testing.T) crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// claims are those of a good token.
func (i *issuer) claims() map[string]any {
	now := time.Now().Unix()
	return map[string]any{"iss": i.url(), "sub": subject, "aud": []string{audience}, "iat": now, "nbf": now, "exp": now + 600}
}

// sign makes a token with one of the issuer's keys.
func (i *issuer) sign(t *testing.T, key int, claims map[string]any) string {
	return awstest.SignToken(t, i.keys[key], claims)
}
