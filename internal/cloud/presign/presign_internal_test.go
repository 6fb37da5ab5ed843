package presign

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var newYear = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	exampleToken  = "FwoGZXIvYXdzEXAMPLETOKEN"
)

// TestSignaturesAreThoseOfBotocore: the signatures were made by botocore of the same
// input.
func TestSignaturesAreThoseOfBotocore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key, session, origin, signature string
	}{
		"temporary credentials": {
			"ASIAIOSFODNN7EXAMPLE", exampleToken, "https://sts.us-west-2.amazonaws.com",
			"d20e7075de0b336382066ce3dd6cceae7c26b586ceae14f947d51b9079e4deb6",
		},
		"an access key, and an endpoint with a port": {
			"AKIAIOSFODNN7EXAMPLE", "", "http://127.0.0.1:4566",
			"5a380b7f07dc15e3a825df0dc719dbbe8954849f5e93f21c74ffcf7acf7124eb",
		},
	} {
		credentials := aws.Credentials{AccessKeyID: c.key, SecretAccessKey: exampleSecret, SessionToken: c.session}
		unsigned := must.Get(ekstoken.Unsigned(c.origin))(t)
		text := must.Get(get(t.Context(), credentials, "us-west-2", unsigned, ekstoken.ClusterHeader, "hub-cluster1", newYear))(t)
		got := must.Get(url.Parse(text))(t)
		want := url.Values{
			"Action": {"GetCallerIdentity"}, "Version": {"2011-06-15"}, "X-Amz-Algorithm": {"AWS4-HMAC-SHA256"},
			"X-Amz-Credential": {c.key + "/20250101/us-west-2/sts/aws4_request"}, "X-Amz-Date": {"20250101T000000Z"},
			"X-Amz-Expires": {"60"}, "X-Amz-SignedHeaders": {"host;x-k8s-aws-id"}, "X-Amz-Signature": {c.signature},
		}
		if c.session != "" {
			want["X-Amz-Security-Token"] = []string{c.session}
		}
		if diff := cmp.Diff(want, got.Query()); diff != "" || got.Scheme+"://"+got.Host+got.Path != c.origin+"/" {
			t.Errorf("%s: %s (-want +got):\n%s", name, got, diff)
		}
	}
}

// TestHostsAreThoseOfTheSDK compares our hosts with the rules in the SDK.
func TestHostsAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()
	resolver := sts.NewDefaultEndpointResolverV2()
	for _, region := range []string{
		"us-east-1", "us-west-2", "eu-central-1", "ap-southeast-5", "mx-central-1", "cn-north-1", "cn-northwest-1",
		"us-gov-west-1", "us-gov-east-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "us-isof-south-1", "eusc-de-east-1",
	} {
		for _, v := range []ekstoken.Variant{{}, {FIPS: true}, {DualStack: true}, {FIPS: true, DualStack: true}} {
			want := ""
			at, err := resolver.ResolveEndpoint(t.Context(), sts.EndpointParameters{
				Region: &region, UseFIPS: &v.FIPS, UseDualStack: &v.DualStack, UseGlobalEndpoint: aws.Bool(false),
			})
			// The SDK has such names for the isolated partitions too, but clusters do
			// not accept them (aws-iam-authenticator: GetSTSDualStackPartitionDomain).
			if refused := v.DualStack && strings.Contains(region, "-iso"); err == nil && !refused {
				want = at.URI.Host
			}
			if got := ekstoken.Host(region, v); got != want {
				t.Errorf("%s, %+v: got %q, the SDK has %q, %v", region, v, got, want, err)
			}
		}
	}
}

func BenchmarkSign(b *testing.B) {
	credentials := aws.Credentials{AccessKeyID: "ASIAIOSFODNN7EXAMPLE", SecretAccessKey: exampleSecret, SessionToken: strings.Repeat(exampleToken, 40)}
	for b.Loop() {
		unsigned := must.Get(ekstoken.Unsigned("https://sts.us-west-2.amazonaws.com"))(b)
		if _, err := get(b.Context(), credentials, "us-west-2", unsigned, ekstoken.ClusterHeader, "hub-cluster1", newYear); err != nil {
			b.Fatal(err)
		}
	}
}
