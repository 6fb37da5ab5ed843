package roleselectore2e

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tabard-dev/tabard/awslocal"
)

const (
	hub   = "111111111111"
	red   = "222222222222"
	green = "333333333333"
	blue  = "444444444444"

	region = "eu-west-1"
	// defaultRole is who the controller is by itself. It may do everything in the
	// hub's account: nothing but the controller's own care keeps it from using that.
	defaultRole = "arn:aws:iam::" + hub + ":role/controller"
	everything  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*","sts:AssumeRole"],"Resource":"*"}]}`
)

var accounts = []string{hub, red, green, blue}

// cloud is a local AWS with the hub's account and three teams'.
type cloud struct {
	*awslocal.Server
	t *testing.T
}

func newCloud(t *testing.T, roots *x509.CertPool, issuer string) *cloud {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{Accounts: accounts, Region: region, TrustedCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []func(string) error{server.Start, server.StartPlain} {
		if err := start("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	c := &cloud{server, t}
	if _, err := c.iam(hub).CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &issuer, ClientIDList: []string{"sts.amazonaws.com"},
	}); err != nil {
		t.Fatal(err)
	}
	bare := strings.TrimPrefix(issuer, "https://")
	c.makeRole(hub, "controller", fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},"Condition":{"StringEquals":
		{"%s:sub":"system:serviceaccount:ack-system:bucket-controller","%s:aud":"sts.amazonaws.com"}}}]}`, hub, bare, bare, bare))
	return c
}

// role makes a role of a team's account that trusts the controller.
func (c *cloud) role(account, name string) (arn string) {
	return c.makeRole(account, name, trust(account, true))
}

func (c *cloud) makeRole(account, name, trust string) string {
	c.t.Helper()
	made, err := c.iam(account).CreateRole(c.t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	if err == nil {
		_, err = c.iam(account).PutRolePolicy(c.t.Context(), &iam.PutRolePolicyInput{
			RoleName: &name, PolicyName: aws.String("all"), PolicyDocument: aws.String(everything),
		})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return *made.Role.Arn
}

func (c *cloud) key(account string) aws.CredentialsProvider {
	key := c.Administrator(account)
	return credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, "")
}

func (c *cloud) iam(account string) *iam.Client {
	return iam.New(iam.Options{Region: region, BaseEndpoint: aws.String(c.PlainURL()), Credentials: c.key(account)})
}

func (c *cloud) s3(account string) *s3.Client {
	return s3.New(s3.Options{Region: region, BaseEndpoint: aws.String(c.PlainURL()), Credentials: c.key(account), UsePathStyle: true})
}

// buckets are the names of an account's buckets.
func (c *cloud) buckets(account string) (names []string) {
	c.t.Helper()
	out, err := c.s3(account).ListBuckets(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, b := range out.Buckets {
		names = append(names, *b.Name)
	}
	return names
}

// tags are those of a bucket.
func (c *cloud) tags(account, name string) map[string]string {
	c.t.Helper()
	out, err := c.s3(account).GetBucketTagging(c.t.Context(), &s3.GetBucketTaggingInput{Bucket: &name})
	if err != nil {
		c.t.Fatal(err)
	}
	tags := map[string]string{}
	for _, tag := range out.TagSet {
		tags[*tag.Key] = *tag.Value
	}
	return tags
}

// accountOf is whose a bucket is, empty for nobody's.
func (c *cloud) accountOf(name string) string {
	for _, account := range accounts {
		if slices.Contains(c.buckets(account), name) {
			return account
		}
	}
	return ""
}

// calls are what the controller has asked AWS about a resource or role since the
// journal was cleared, as OPERATION by CALLER; callers are ACCOUNT/ROLE.
func (c *cloud) calls(resource string) (calls []string) {
	for _, e := range c.Admin().Journal() {
		if strings.HasSuffix(e.Resource, resource) && !strings.Contains(e.Caller, ":user/administrator") {
			calls = append(calls, e.Operation+" by "+caller(e.Caller))
		}
	}
	return calls
}

// caller is ACCOUNT/ROLE of a session's ARN.
func caller(arn string) string {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) != 6 {
		return arn
	}
	return fields[4] + "/" + strings.Split(fields[5]+"/", "/")[1]
}

// callers are who asked about a bucket, each once.
func (c *cloud) callers(name string) (callers []string) {
	for _, call := range c.calls(":::" + name) {
		_, by, _ := strings.Cut(call, " by ")
		callers = append(callers, by)
	}
	slices.Sort(callers)
	return slices.Compact(callers)
}

// assumed is how often a role was asked for, whatever the answer was.
func (c *cloud) assumed(role string) (times int) {
	for _, e := range c.Admin().Journal() {
		if e.Operation == "AssumeRole" && e.Resource == role {
			times++
		}
	}
	return times
}

// trusts says whether a role of a team's account trusts the controller, or only its
// own account.
func (c *cloud) trusts(account, name string, controller bool) {
	c.t.Helper()
	c.trustsAs(account, name, trust(account, controller))
}

func trust(account string, controller bool) string {
	principal := "arn:aws:iam::" + account + ":root"
	if controller {
		principal = defaultRole
	}
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + principal + `"}}]}`
}

// makeForeign makes a bucket that is nobody's of the cluster.
func (c *cloud) makeForeign(account, name string) {
	c.t.Helper()
	_, err := c.s3(account).CreateBucket(c.t.Context(), &s3.CreateBucketInput{
		Bucket:                    &name,
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: region},
	})
	if err == nil {
		_, err = c.s3(account).PutBucketTagging(c.t.Context(), &s3.PutBucketTaggingInput{
			Bucket: &name, Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("owner"), Value: aws.String("somebody")}}},
		})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}
