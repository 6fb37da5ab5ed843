package awstest

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awslocal"
)

// Region is that of clients whose server was not told of one.
const Region = "eu-central-1"

// Lab is a local AWS of this process, and clients of it. What its methods cannot
// do ends the test.
type Lab struct {
	*awslocal.Server
	t       testing.TB
	options awslocal.Options
	folder  string
}

// Start runs a local AWS on 127.0.0.1, with and without TLS, until the test ends.
// Its certificate authority is the file ca.crt of Path.
func Start(t testing.TB, options awslocal.Options) *Lab {
	t.Helper()
	l := &Lab{t: t, options: options, folder: t.TempDir()}
	l.start(nil, "127.0.0.1:0")
	t.Cleanup(func() { l.Close() })
	l.Write("ca.crt", string(l.CACertificate()))
	return l
}

// start serves a state, nil for none, without TLS at the address.
func (l *Lab) start(state []byte, plain string) {
	l.t.Helper()
	server, err := awslocal.New(l.options)
	if err == nil && state != nil {
		err = server.Admin().Load(state)
	}
	if err == nil {
		err = errors.Join(server.Start("127.0.0.1:0"), server.StartPlain(plain))
	}
	l.Must(server, err)
	l.Server = server
}

// Close ends the server before its test ends.
func (l *Lab) Close() {
	l.t.Helper()
	l.Must(nil, l.Server.Close(context.WithoutCancel(l.t.Context())))
}

// Restart gives the state of the server to a new one at the same address without
// TLS. The new one has other keys only where the state has none.
func (l *Lab) Restart() {
	l.t.Helper()
	state, err := l.Admin().Dump()
	l.Must(state, err)
	address := l.PlainURL()[len("http://"):]
	l.Close()
	l.start(state, address)
}

// Must ends the test if a call has failed: l.Must(client.CreateRole(ctx, input)).
func (l *Lab) Must(_ any, err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// Path is that of a file of the test's own folder.
func (l *Lab) Path(name string) string { return filepath.Join(l.folder, name) }

// Write makes a file in the test's own folder, and returns its path.
func (l *Lab) Write(name, content string) string {
	l.t.Helper()
	l.Must(nil, os.WriteFile(l.Path(name), []byte(content), 0o600))
	return l.Path(name)
}

// Client is an HTTP client that trusts the server, and finds it by all names that
// are not this machine's. It follows no redirect.
func (l *Lab) Client() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.CACertificate())
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs = pool
	own := strings.TrimPrefix(l.URL(), "https://")
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && net.ParseIP(host) == nil {
			address = own
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	l.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: PlainBodies(transport), CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// Config is what the SDK's default chain finds, at the server and without
// repetitions. Isolate the test first.
func (l *Lab) Config(options ...func(*config.LoadOptions) error) aws.Config {
	l.t.Helper()
	cfg, err := config.LoadDefaultConfig(l.t.Context(), append([]func(*config.LoadOptions) error{
		config.WithRegion(l.region()), config.WithBaseEndpoint(l.URL()), config.WithHTTPClient(l.Client()), config.WithRetryMaxAttempts(1),
	}, options...)...)
	l.Must(cfg, err)
	return cfg
}

// As is a configuration of the holder of a key; the zero key is nobody's. It
// reads nothing of the machine.
func (l *Lab) As(key aws.Credentials) aws.Config {
	cfg := aws.Config{Region: l.region(), BaseEndpoint: aws.String(l.URL()), HTTPClient: l.Client(), RetryMaxAttempts: 1}
	if cfg.Credentials = aws.CredentialsProvider(aws.AnonymousCredentials{}); key.AccessKeyID != "" {
		cfg.Credentials = credentials.StaticCredentialsProvider{Value: key}
	}
	return cfg
}

func (l *Lab) region() string {
	if l.options.Region != "" {
		return l.options.Region
	}
	return Region
}

// Administrator is the key of an account's administrator.
func (l *Lab) Administrator(account string) aws.Credentials {
	key := l.Server.Administrator(account)
	return aws.Credentials{AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey}
}

// IAM is that of an account, as its administrator sees it.
func (l *Lab) IAM(account string) *iam.Client {
	return iam.NewFromConfig(l.As(l.Administrator(account)))
}

// Role makes a role whose policy "inline" is the document, empty for none, and
// returns its ARN.
func (l *Lab) Role(account, name, trust, document string) string {
	l.t.Helper()
	made, err := l.IAM(account).CreateRole(l.t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	l.Must(made, err)
	if document != "" {
		l.RolePolicy(account, name, document)
	}
	return *made.Role.Arn
}

// RolePolicy makes or replaces a role's policy "inline".
func (l *Lab) RolePolicy(account, role, document string) {
	l.t.Helper()
	l.Must(l.IAM(account).PutRolePolicy(l.t.Context(), &iam.PutRolePolicyInput{
		RoleName: &role, PolicyName: aws.String("inline"), PolicyDocument: &document,
	}))
}

// User makes a user whose policy "inline" is the document, empty for none.
func (l *Lab) User(account, name, document string) {
	l.t.Helper()
	l.Must(l.IAM(account).CreateUser(l.t.Context(), &iam.CreateUserInput{UserName: &name}))
	if document != "" {
		l.UserPolicy(account, name, document)
	}
}

// UserPolicy makes or replaces a user's policy "inline".
func (l *Lab) UserPolicy(account, user, document string) {
	l.t.Helper()
	l.Must(l.IAM(account).PutUserPolicy(l.t.Context(), &iam.PutUserPolicyInput{
		UserName: &user, PolicyName: aws.String("inline"), PolicyDocument: &document,
	}))
}

// Key makes an access key of a user.
func (l *Lab) Key(account, user string) aws.Credentials {
	l.t.Helper()
	made, err := l.IAM(account).CreateAccessKey(l.t.Context(), &iam.CreateAccessKeyInput{UserName: &user})
	l.Must(made, err)
	return aws.Credentials{AccessKeyID: *made.AccessKey.AccessKeyId, SecretAccessKey: *made.AccessKey.SecretAccessKey}
}

// Provider registers an issuer for audiences, and returns the provider's ARN.
func (l *Lab) Provider(account, url string, audiences ...string) string {
	l.t.Helper()
	made, err := l.IAM(account).CreateOpenIDConnectProvider(l.t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: &url, ClientIDList: audiences})
	l.Must(made, err)
	return *made.OpenIDConnectProviderArn
}

// Refusal is the code and text of an error of AWS, and empty for a call that
// succeeds: Refusal(client.CreateRole(ctx, input)).
func Refusal(_ any, err error) string {
	if err == nil {
		return ""
	}
	if fault, is := errors.AsType[smithy.APIError](err); is {
		return fault.ErrorCode() + ": " + fault.ErrorMessage()
	}
	return "no answer of AWS: " + err.Error()
}

// Err is the error of a call alone: Err(client.CreateRole(ctx, input)).
func Err(_ any, err error) error { return err }
