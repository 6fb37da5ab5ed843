package capacity

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/awslocal"
)

const (
	account = "123456789012"
	// user is who the controller's tokens are about.
	user = "system:serviceaccount:" + system + ":" + program
	// mayAsk is the policy that the controller needs.
	mayAsk = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:DescribeInstanceTypes","ec2:DescribeRegions"],"Resource":"*"}]}`
)

// site is a namespace of a cluster with an AWS of its own, so that the trouble
// of one test is not that of another.
type site struct {
	*cluster
	namespace string
	region    string
	dir       string
	aws       *awslocal.Server
	front     *front
	// env is the process's environment.
	env map[string]string
	// role is the ARN of the role that the controller may become.
	role string
	// secrets are what must be nowhere but where it belongs.
	secrets []string
}

// site makes one whose AWS is at home in a region, with nobody in it.
func (c *cluster) site(t *testing.T, namespace, region string) *site {
	t.Helper()
	s := &site{cluster: c, namespace: namespace, region: region, dir: t.TempDir()}
	c.makeNamespace(t, namespace)
	c.allowSecret(t, namespace)
	var err error
	s.aws, err = awslocal.New(awslocal.Options{
		Accounts: []string{account}, Region: region, TrustedCAs: c.roots,
		Hosts: []string{"*.us-gov-west-1.amazonaws.com", "*.us-gov-east-1.amazonaws.com", "*.cn-north-1.amazonaws.com.cn", "*.cn-northwest-1.amazonaws.com.cn"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.aws.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.aws.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	var bundle []byte
	s.front, bundle = startFront(t, s.aws.Handler())
	s.secrets = append(s.secrets, c.kubeconfig(t, s.path("kubeconfig")))
	s.env = map[string]string{
		"AWS_ENDPOINT_URL": s.front.URL, "AWS_CA_BUNDLE": s.write(t, "ca.pem", bundle), "AWS_REGION": region,
		"KUBECONFIG": s.path("kubeconfig"),
	}
	return s
}

// webSite is a site in which the controller has a web identity.
func (c *cluster) webSite(t *testing.T, namespace, region string) *site {
	t.Helper()
	s := c.site(t, namespace, region)
	s.makeRole(t, "sts.amazonaws.com")
	s.env["AWS_ROLE_ARN"], s.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = s.role, s.path("token")
	s.rotateToken(t, c.token(t, "sts.amazonaws.com", 3600))
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(t *testing.T, name string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(s.path(name), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return s.path(name)
}

// rotateToken puts a token where the process reads it, as the kubelet does: by
// another link to another file.
func (s *site) rotateToken(t *testing.T, token string) {
	t.Helper()
	s.secrets = append(s.secrets, token, token[strings.LastIndex(token, ".")+1:])
	folder, err := os.MkdirTemp(s.dir, "token-")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, file+".link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".link", s.path("token")); err != nil {
		t.Fatal(err)
	}
}

// administrator administrates the site's AWS.
func (s *site) administrator() *iam.Client {
	key := s.aws.Administrator(account)
	return iam.New(iam.Options{
		Region: s.region, BaseEndpoint: aws.String(s.aws.PlainURL()),
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	})
}

// makeRole registers the cluster's issuer, and makes a role that trusts the
// controller's tokens with an audience and may ask.
func (s *site) makeRole(t *testing.T, audience string) {
	t.Helper()
	admin := s.administrator()
	provider, err := admin.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(s.api.Issuer()), ClientIDList: []string{audience},
	})
	if err != nil {
		t.Fatal(err)
	}
	issuer := strings.TrimPrefix(s.api.Issuer(), "https://")
	role, err := admin.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("capacity"), AssumeRolePolicyDocument: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",` +
			`"Principal":{"Federated":"` + *provider.OpenIDConnectProviderArn + `"},"Condition":{"StringEquals":{` +
			`"` + issuer + `:sub":"` + user + `","` + issuer + `:aud":"` + audience + `"}}}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("capacity"), PolicyName: aws.String("types"), PolicyDocument: aws.String(mayAsk),
	}); err != nil {
		t.Fatal(err)
	}
	s.role = *role.Role.Arn
}

// makeKey makes an IAM user that may ask, with an access key.
func (s *site) makeKey(t *testing.T, name string) (id, secret string) {
	t.Helper()
	admin := s.administrator()
	if _, err := admin.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.PutUserPolicy(t.Context(), &iam.PutUserPolicyInput{
		UserName: &name, PolicyName: aws.String("types"), PolicyDocument: aws.String(mayAsk),
	}); err != nil {
		t.Fatal(err)
	}
	key, err := admin.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: &name})
	if err != nil {
		t.Fatal(err)
	}
	s.secrets = append(s.secrets, *key.AccessKey.SecretAccessKey)
	return *key.AccessKey.AccessKeyId, *key.AccessKey.SecretAccessKey
}

// calls are the journal's calls of a service; the journal goes on.
func (s *site) calls(service string) (out []awslocal.Entry) {
	for _, entry := range s.aws.Admin().Journal() {
		if entry.Service == service {
			out = append(out, entry)
		}
	}
	return out
}

// callers are who called EC2 and STS, each "SERVICE by CALLER" once, and the
// journal is cleared. Sessions are without their name.
func (s *site) callers() (out []string) {
	for _, entry := range slices.Concat(s.calls("ec2"), s.calls("sts")) {
		caller := entry.Caller
		if before, _, found := strings.Cut(caller, "/tabard-"); found {
			caller = before
		}
		out = append(out, entry.Service+" by "+caller)
	}
	s.aws.Admin().ClearJournal()
	slices.Sort(out)
	return slices.Compact(out)
}
