package awslocal_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// publish makes a bucket that everybody may read, with the documents of an issuer
// below a prefix.
func publish(t *testing.T, l *lab, bucket, prefix, url string) {
	t.Helper()
	client := s3.NewFromConfig(l.administrator(account), func(o *s3.Options) { o.UsePathStyle = true })
	put := func(key string, document any) {
		text := must.Get(json.Marshal(document))(t)
		l.Must(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String(prefix + key), Body: bytes.NewReader(text)}))
	}
	l.Must(client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: &bucket, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "eu-central-1"},
	}))
	put(".well-known/openid-configuration", map[string]any{"issuer": url, "jwks_uri": url + "/keys.json"})
	put("keys.json", awstest.KeySet(l.issuer.Keys()...))
	l.Must(client.DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{Bucket: &bucket}))
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::` + bucket + `/*",
		"Condition":{"Bool":{"aws:SecureTransport":"true"}}}]}`
	l.Must(client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: &bucket, Policy: &policy}))
}

// TestIssuerInABucketOfItsOwnIsFetchedByItsNameAtAWS is how clusters publish: the
// issuer is a host of Amazon S3, which on this machine is nobody's.
func TestIssuerInABucketOfItsOwnIsFetchedByItsNameAtAWS(t *testing.T) {
	for name, c := range map[string]struct{ bucket, prefix, url, want string }{
		"a bucket's host in its region":    {"docs", "", "https://docs.s3.eu-central-1.amazonaws.com", ""},
		"a bucket's host without a region": {"docs", "", "https://docs.s3.amazonaws.com", ""},
		"an older host, and a prefix":      {"docs", "cluster-1/", "https://docs.s3-eu-central-1.amazonaws.com/cluster-1", ""},
		"a path below the region's host":   {"docs", "cluster-1/", "https://s3.eu-central-1.amazonaws.com/docs/cluster-1", ""},
		"a bucket with a dot":              {"docs.example", "", "https://docs.example.s3.eu-central-1.amazonaws.com", ""},
		"another region's host":            {"docs", "", "https://docs.s3.us-east-1.amazonaws.com", noKey},
		"a prefix that is not there":       {"docs", "a/", "https://docs.s3.eu-central-1.amazonaws.com/b", noKey},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, func(o *awslocal.Options) { o.FetchThumbprints = c.want == "" })
			publish(t, l, c.bucket, c.prefix, c.url)
			made, err := l.iam().CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: &c.url, ClientIDList: []string{audience}})
			if err != nil {
				t.Fatal(err)
			}
			l.role("app", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"`+
				*made.OpenIDConnectProviderArn+`"},"Condition":{"StringEquals":{"`+strings.TrimPrefix(c.url, "https://")+`:sub":"`+subject+`"}}}]}`)
			claims := l.claims()
			claims["iss"] = c.url
			l.Admin().ClearJournal()
			_, err = exchange(t, l, l.sign(0, claims), nil)
			if got := awstest.Refusal(nil, err); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
				t.Fatalf("answer %q, want %q", got, c.want)
			}
			journal := l.Admin().Journal()
			if c.want != "" {
				return
			}
			if len(journal) != 3 || journal[0].Operation != "GetObject" || journal[0].Caller != "anonymous" || journal[1].Resource != "arn:aws:s3:::"+c.bucket+"/"+c.prefix+"keys.json" {
				t.Errorf("the journal has %+v", journal)
			}
		})
	}
}

// TestIssuerOfItsOwnThatHangsIsGivenUp holds the fetch to its time.
func TestIssuerOfItsOwnThatHangsIsGivenUp(t *testing.T) {
	const url = "https://docs.s3.eu-central-1.amazonaws.com"
	l := newLab(t)
	publish(t, l, "docs", "", url)
	provider := must.Get(l.iam().CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: aws.String(url), ClientIDList: []string{audience}}))(t)
	l.role("app", l.trust(*provider.OpenIDConnectProviderArn))
	l.Admin().Inject(awslocal.Fault{Service: "s3", Operation: "GetObject", Latency: time.Hour})
	claims := l.claims()
	claims["iss"] = url
	if got := awstest.Refusal(exchange(t, l, l.sign(0, claims), nil)); !strings.HasPrefix(got, "IDPCommunicationError") {
		t.Errorf("answer %q", got)
	}
}
