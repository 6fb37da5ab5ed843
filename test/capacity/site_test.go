package capacity

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
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
	aws       *awstest.Lab
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
	c.In(t).MakeNamespaces(namespace)
	c.allowSecret(t, namespace)
	s.aws = awstest.Start(t, awslocal.Options{
		Accounts: []string{account}, Region: region, TrustedCAs: c.Roots,
		Hosts: []string{"*.us-gov-west-1.amazonaws.com", "*.us-gov-east-1.amazonaws.com", "*.cn-north-1.amazonaws.com.cn", "*.cn-northwest-1.amazonaws.com.cn"},
	})
	var bundle []byte
	s.front, bundle = startFront(t, s.aws.Handler())
	s.writeKubeconfig(t, c.APIServer)
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

// writeKubeconfig lets a process be the ServiceAccount of the manifests at an API
// server of the cluster, by a token as its pod has one.
func (s *site) writeKubeconfig(t *testing.T, server *testkit.APIServer) {
	t.Helper()
	config := rest.CopyConfig(server.Config)
	config.BearerToken = s.token(t, "api", 3600)
	testkit.WriteKubeconfig(t, s.path("kubeconfig"), config)
	s.secrets = append(s.secrets, config.BearerToken)
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(t *testing.T, name string, content []byte) string {
	t.Helper()
	must.Do(t, os.WriteFile(s.path(name), content, 0o600))
	return s.path(name)
}

// rotateToken puts a token where the process reads it, as the kubelet does: by
// another link to another file.
func (s *site) rotateToken(t *testing.T, token string) {
	t.Helper()
	s.secrets = append(s.secrets, token, token[strings.LastIndex(token, ".")+1:])
	folder := must.Get(os.MkdirTemp(s.dir, "token-"))(t)
	file := filepath.Join(folder, "token")
	must.Do(t, os.WriteFile(file, []byte(token), 0o600))
	must.Do(t, os.Symlink(file, file+".link"))
	must.Do(t, os.Rename(file+".link", s.path("token")))
}

// administrator administrates the site's AWS.
func (s *site) administrator() *iam.Client { return s.aws.IAM(account) }

// makeRole registers the cluster's issuer, and makes a role that trusts the
// controller's tokens with an audience and may ask.
func (s *site) makeRole(t *testing.T, audience string) {
	t.Helper()
	provider := s.aws.Provider(account, s.Issuer(), audience)
	s.role = s.aws.Role(account, "capacity", awstest.Trust(provider, user, audience), mayAsk)
}

// makeKey makes an IAM user that may ask, with an access key.
func (s *site) makeKey(t *testing.T, name string) (id, secret string) {
	t.Helper()
	s.aws.User(account, name, mayAsk)
	key := s.aws.Key(account, name)
	s.secrets = append(s.secrets, key.SecretAccessKey)
	return key.AccessKeyID, key.SecretAccessKey
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
