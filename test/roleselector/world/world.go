// Package world is where the tests of role selectors let the example controller work: a
// cluster with the controller's manifests, and a local AWS that evaluates every policy,
// with an account of the controller's and one of each team.
package world

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const (
	// Manifests are the example's.
	Manifests = "examples/bucket-controller/manifests/"
	// System is the namespace of the controller.
	System = "ack-system"
	// Account is its ServiceAccount.
	Account = "bucket-controller"
	// Everything is a policy that lets a role do all that the controller does.
	Everything = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*","sts:AssumeRole"],"Resource":"*"}]}`

	audience = "sts.amazonaws.com"
)

// World is a cluster and a cloud. What its methods cannot do ends the test.
type World struct {
	*testkit.Cluster
	AWS *Cloud
}

// Options say what a world has.
type Options struct {
	// Accounts are the controller's own, and those of the teams.
	Accounts []string
	Region   string
	// CRDs are kinds beside the example's.
	CRDs []string
}

// Start makes a world that ends with the test. The controller is there as a ServiceAccount
// and as a role of the first account.
func Start(t testing.TB, options Options) *World {
	t.Helper()
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{
		CRDs: append(options.CRDs, Manifests+"crd.yaml"), Schemes: []func(*runtime.Scheme) error{bucket.AddToScheme},
	})
	cluster.MakeFiles(Manifests+"rights.yaml", Manifests+"deployment.yaml") // which nobody runs here
	lab := awstest.Start(t, awslocal.Options{Accounts: options.Accounts, Region: options.Region, TrustedCAs: cluster.Roots})
	hub := options.Accounts[0]
	provider := lab.Provider(hub, cluster.Issuer(), audience)
	lab.Role(hub, "controller", awstest.Trust(provider, "system:serviceaccount:"+System+":"+Account, audience), Everything)
	return &World{cluster, &Cloud{lab, options}}
}

// Environment is that of the controller's pod, where it reaches the API server so.
func (w *World) Environment(config *rest.Config) map[string]string {
	w.Helper()
	return map[string]string{
		"KUBECONFIG": w.Kubeconfig(config), "ACK_SYSTEM_NAMESPACE": System,
		"AWS_ENDPOINT_URL": w.AWS.URL(), "AWS_CA_BUNDLE": w.AWS.Path("ca.crt"), "AWS_ROLE_ARN": w.AWS.Self(),
		"AWS_ROLE_SESSION_NAME": "pod", "AWS_WEB_IDENTITY_TOKEN_FILE": w.AWS.Write("token", w.Token(System, Account, 24*time.Hour, audience)),
	}
}

// Cloud is a local AWS, whose journal tells who made each call.
type Cloud struct {
	*awstest.Lab
	options Options
}

// Self is who the controller is by itself. It may do everything in its own account:
// nothing but its own care keeps it from using that.
func (c *Cloud) Self() string { return "arn:aws:iam::" + c.options.Accounts[0] + ":role/controller" }

// Trust is a policy that lets the controller alone assume a role.
func (c *Cloud) Trust() string { return TrustOf(c.Self()) }

// TrustOf lets a principal assume a role.
func TrustOf(principal string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + principal + `"}}]}`
}

// S3 is that of an account, as its administrator sees it.
func (c *Cloud) S3(account string) *s3.Client {
	return s3.New(s3.Options{
		Region: c.options.Region, BaseEndpoint: aws.String(c.PlainURL()), UsePathStyle: true,
		Credentials: credentials.StaticCredentialsProvider{Value: c.Administrator(account)},
	})
}

// Buckets are the names of an account's buckets.
func (c *Cloud) Buckets(t testing.TB, account string) (names []string) {
	t.Helper()
	out, err := c.S3(account).ListBuckets(t.Context(), nil)
	c.Must(out, err)
	for _, b := range out.Buckets {
		names = append(names, *b.Name)
	}
	return names
}

// AccountOf is whose a bucket is, empty for nobody's.
func (c *Cloud) AccountOf(t testing.TB, name string) string {
	t.Helper()
	for _, account := range c.options.Accounts {
		if slices.Contains(c.Buckets(t, account), name) {
			return account
		}
	}
	return ""
}

// MakeForeign makes a bucket that is nothing of the controller's.
func (c *Cloud) MakeForeign(t testing.TB, account, name string, tags map[string]string, withObject bool) {
	t.Helper()
	client := c.S3(account)
	c.Must(client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: &name, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(c.options.Region)},
	}))
	if withObject {
		c.Must(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &name, Key: aws.String("precious"), Body: strings.NewReader("gold")}))
	}
	if len(tags) == 0 {
		return
	}
	var set []types.Tag
	for tag, value := range tags {
		set = append(set, types.Tag{Key: &tag, Value: &value})
	}
	c.Must(client.PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{Bucket: &name, Tagging: &types.Tagging{TagSet: set}}))
}

// Tags are those of a bucket; none if it has none.
func (c *Cloud) Tags(t testing.TB, account, name string) map[string]string {
	t.Helper()
	tags := map[string]string{}
	// Without tags there is an error, and no tags either.
	if out, err := c.S3(account).GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &name}); err == nil {
		for _, tag := range out.TagSet {
			tags[*tag.Key] = *tag.Value
		}
	}
	return tags
}
