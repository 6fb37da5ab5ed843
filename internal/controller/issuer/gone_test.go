package issuer_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/awslocal"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestWhatIsGoneIsToldBeforeWhyItCannotBeMadeAnew deletes what an issuer has published,
// where the operator may not make it again, and grants it the right at last.
func TestWhatIsGoneIsToldBeforeWhyItCannotBeMadeAnew(t *testing.T) {
	tests := map[string]struct {
		remove    func(*testing.T, *fixture)
		service   string
		operation string
		kind      string
		reason    core.Reason
		says      []string
	}{
		"the bucket": {func(t *testing.T, f *fixture) { f.removeBucket(t) }, "s3", "CreateBucket", core.TypePublished, core.ReasonBucketMissing,
			[]string{"there is no bucket " + testBucket, "act at once", "lacks s3:CreateBucket"}},
		"a document": {func(t *testing.T, f *fixture) {
			must.Get(s3.NewFromConfig(f.stage("").config(testAccount)).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: new(testBucket), Key: new(core.KeysPath)}))(t)
		}, "s3", "PutObject", core.TypePublished, core.ReasonDocumentsMissing, []string{"keys.json is not in bucket", "act at once", "lacks s3:PutObject"}},
		"the right to read": {func(t *testing.T, f *fixture) {
			must.Get(s3.NewFromConfig(f.stage("").config(testAccount)).DeleteBucketPolicy(t.Context(), &s3.DeleteBucketPolicyInput{Bucket: new(testBucket)}))(t)
		}, "s3", "PutBucketPolicy", core.TypePublished, core.ReasonNotReadable, []string{"answers 403", "act at once", "lacks s3:PutBucketPolicy"}},
		"the provider": {func(t *testing.T, f *fixture) {
			client := iam.NewFromConfig(f.stage("").config(testAccount))
			provider := core.ProviderARN("aws", testAccount, f.url)
			must.Get(client.DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider}))(t)
		}, "iam", "CreateOpenIDConnectProvider", core.TypeProviderReady, core.ReasonProviderNotRegistered, []string{"there is no arn:", "AWS refuses the cluster's tokens", "iam:CreateOpenIDConnectProvider is lacking"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.create(t, "main", unchanged)
			f.settle(t, "main")
			f.aws.Admin().Inject(awslocal.Fault{Service: test.service, Operation: test.operation, Code: "AccessDenied"})
			test.remove(t, f)
			var message string
			for range 3 { // it says the same at each look
				stored, _ := f.pass(t, "main")
				seen := wantCondition(t, stored, test.kind, metav1.ConditionFalse, test.reason)
				wantCondition(t, stored, core.TypeReady, metav1.ConditionFalse, test.reason)
				if message != "" && seen != message {
					t.Errorf("it says\n%s\nafter\n%s", seen, message)
				}
				message = seen
			}
			rest := message
			for _, text := range test.says {
				_, after, found := strings.Cut(rest, text)
				if rest = after; !found {
					t.Errorf("the condition says\n%s\nwant %q, in the order of %q", message, text, test.says)
				}
			}
			f.aws.Admin().ClearFaults()
			wantCondition(t, f.settle(t, "main"), core.TypeReady, metav1.ConditionTrue, core.ReasonVerified)
		})
	}
}

// removeBucket deletes the issuer's bucket with all that is in it, as a person does.
func (f *fixture) removeBucket(t *testing.T) {
	t.Helper()
	client := s3.NewFromConfig(f.stage("").config(testAccount))
	for _, key := range []string{core.KeysPath, core.DiscoveryPath} {
		must.Get(client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: new(testBucket), Key: &key}))(t)
	}
	must.Get(client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: new(testBucket)}))(t)
}
