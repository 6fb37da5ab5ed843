package docs

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestCommandLineMakesThePagesRoles runs the page's aws commands, beside the files
// that the page has, as the account's administrator; and sees who can become the
// roles, and what they may do.
func TestCommandLineMakesThePagesRoles(t *testing.T) {
	awstest.Isolate(t)
	key := newKey(t)
	keys := must.Get(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}}))(t)
	front := testkit.ServeIssuer(t, func(context.Context) ([]byte, error) { return keys, nil })
	issuer := strings.TrimPrefix(front.URL, "https://")
	roots := x509.NewCertPool()
	roots.AddCert(front.Certificate())
	server := startAWS(t, roots)
	must.Do(t, server.Admin().AddCluster(awslocal.Cluster{Account: account, Name: "prod", Issuer: front.URL, JWKS: keys}))
	folder := t.TempDir()
	documents := blocks(t, web, "json", 2)
	for file, content := range map[string]string{"types.json": documents[0], "trust.json": strings.ReplaceAll(documents[1], pagesName, issuer), "pods.json": blocks(t, pods, "json", 1)[0]} {
		must.Do(t, os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600))
	}
	run(t, server, folder, "aws iam create-open-id-connect-provider --url "+front.URL+" --client-id-list sts.amazonaws.com vault")
	run(t, server, folder, blocks(t, web, "sh", 2)[0])
	run(t, server, folder, blocks(t, pods, "sh", 2)[0])

	const subject = "system:serviceaccount:" + system + ":" + name
	for who, c := range map[string]struct{ subject, audience, refused string }{
		"the controller":                   {subject, "sts.amazonaws.com", ""},
		"another ServiceAccount":           {"system:serviceaccount:" + system + ":default", "sts.amazonaws.com", "AccessDenied"},
		"a token for somebody else":        {subject, "vault", "AccessDenied"},
		"a token for nobody that is known": {subject, "elsewhere", "InvalidIdentityToken"},
	} {
		token := awstest.SignToken(t, key, map[string]any{
			"iss": front.URL, "sub": c.subject, "aud": []string{c.audience},
			"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		})
		got, err := sts.NewFromConfig(aws.Config{Region: region, BaseEndpoint: aws.String(server.PlainURL())}).AssumeRoleWithWebIdentity(
			t.Context(), &sts.AssumeRoleWithWebIdentityInput{RoleArn: aws.String(roleARN), RoleSessionName: aws.String("test"), WebIdentityToken: &token})
		if refused := codeOf(err); refused != c.refused {
			t.Errorf("%s is refused with %q, want %q: %v", who, refused, c.refused, err)
		}
		if err == nil {
			mayLookAlone(t, server, aws.Credentials{
				AccessKeyID: *got.Credentials.AccessKeyId, SecretAccessKey: *got.Credentials.SecretAccessKey, SessionToken: *got.Credentials.SessionToken,
			})
		}
	}
	shown := run(t, server, folder, "aws eks list-pod-identity-associations --cluster-name prod --namespace "+system+"\n"+
		"aws iam get-role-policy --role-name tabard-capacity-pods --policy-name instance-types")
	for _, want := range []string{`"serviceAccount": "` + name + `"`, `"ec2:DescribeRegions"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the commands for EKS leave nothing behind with %s:\n%s", want, shown)
		}
	}
}

// mayLookAlone sees that credentials may do what the controller does, and no more.
func mayLookAlone(t *testing.T, server *awstest.Lab, who aws.Credentials) {
	t.Helper()
	config := administratorOf(server)
	config.Credentials = aws.CredentialsProviderFunc(func(_ context.Context) (aws.Credentials, error) { return who, nil })
	client := ec2.NewFromConfig(config)
	_, types := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{})
	_, regions := client.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{})
	_, roles := iam.NewFromConfig(config).ListRoles(t.Context(), &iam.ListRolesInput{})
	if types != nil || regions != nil || codeOf(roles) != "AccessDenied" {
		t.Errorf("instance types: %v; regions: %v; roles: %v, want AccessDenied for these alone", types, regions, roles)
	}
}

func codeOf(err error) string {
	if found := cloud.Classify("", "", err); found != nil {
		return found.Code
	}
	return ""
}

func newKey(t *testing.T) jose.JSONWebKey {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	return jose.JSONWebKey{Key: key, KeyID: "one", Algorithm: string(jose.RS256), Use: "sig"}
}

// run runs commands beside the page's files, and returns what they print.
func run(t *testing.T, server *awstest.Lab, folder, script string) string {
	t.Helper()
	if _, err := exec.LookPath("aws"); err != nil {
		t.Fatalf("this test needs the aws command line, version 1.45 or later, on the PATH: %v", err)
	}
	key := server.Administrator(account)
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	shell.Dir = folder
	shell.Env = slices.Concat(os.Environ(), []string{
		"AWS_ENDPOINT_URL=" + server.PlainURL(), "AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region, "AWS_PAGER=",
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
	})
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("the commands failed: %v\n%s\n%s", err, script, out)
	}
	return string(out)
}
