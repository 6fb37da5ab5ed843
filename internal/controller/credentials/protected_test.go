package credentials_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// bound replaces the policy that bounds all roles of the fixture.
func (f *fixture) bound(text string) {
	f.Helper()
	versions := must.Get(f.iam.ListPolicyVersions(f.Context(), &iam.ListPolicyVersionsInput{PolicyArn: aws.String(testPolicyARN)}))(f).Versions
	for _, v := range versions {
		if !v.IsDefaultVersion {
			f.aws.Must(f.iam.DeletePolicyVersion(f.Context(), &iam.DeletePolicyVersionInput{PolicyArn: aws.String(testPolicyARN), VersionId: v.VersionId}))
		}
	}
	f.aws.Must(f.iam.CreatePolicyVersion(f.Context(), &iam.CreatePolicyVersionInput{PolicyArn: aws.String(testPolicyARN), PolicyDocument: &text, SetAsDefault: true}))
}

// TestARequestIsJudgedWithWhatItsPermissionsBoundaryDenies: statements on everything are given
// where the boundary keeps them from what is protected; the role does what was asked, and six
// attacks by it are refused by AWS. When the boundary is loosened, the role loses its policy,
// and has it back when the boundary denies again.
func TestARequestIsJudgedWithWhatItsPermissionsBoundaryDenies(t *testing.T) {
	const publisher = "tabard-publisher"
	issuer := awstest.StartIssuer(t)
	f := newFixtureBy(t, issuer.Issuer(), issuer.Roots())
	provider := "arn:aws:iam::" + testAccount + ":oidc-provider/" + strings.TrimPrefix(issuer.Issuer(), "https://")
	publisherARN := f.aws.Role(testAccount, publisher, `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::`+testAccount+`:root"},"Action":"sts:AssumeRole"}}`, document("s3:*", "*"))
	kept := must.Get(core.Minter{
		Partition: "aws", Account: testAccount, Infrastructure: infra, Paths: []string{"/tabard/"}, Boundaries: []string{testPolicyARN},
		Buckets: []string{"keys"}, Providers: []string{provider}, Roles: []string{publisherARN},
	}.BoundaryPolicy())(t)
	f.bound(kept)
	ahead := time.Duration(0)
	f.options = func(o *credentials.Options) {
		o.Now = func() time.Time { return time.Now().Add(ahead) }
		o.Own = credentials.OwnConfigs{Reader: f.Cluster, Namespace: f.namespace, Names: []string{"tabard-issuer"}}
	}
	f.start(t)
	must.Do(t, f.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "tabard-issuer"}, Data: map[string]string{"roleARN": publisherARN}}))
	f.Merge(&v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}, `{"spec":{"aws":{"ceiling":"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":[\"s3:*Object\",\"s3:*BucketPolicy\",\"s3:ListAllMyBuckets\"],\"Resource\":\"*\"},{\"Effect\":\"Allow\",\"Action\":[\"iam:Get*\",\"iam:PutRolePolicy\",\"iam:CreatePolicyVersion\",\"iam:DeleteOpenIDConnectProvider\",\"sts:AssumeRole\",\"sts:GetCallerIdentity\"],\"Resource\":\"*\"}]}"}}}`)
	request := f.request("wide", "app")
	request.Spec.ProviderSpec = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[
		{"effect":"Allow","action":["s3:*Object","s3:PutBucketPolicy","s3:ListAllMyBuckets"],"resource":"*"},
		{"effect":"Allow","action":["iam:GetUser","iam:PutRolePolicy","iam:CreatePolicyVersion","iam:DeleteOpenIDConnectProvider","sts:AssumeRole","sts:GetCallerIdentity"],"resource":"*"}]}`)}
	f.Make(request)
	role := f.until(request, isReady).Status.Role
	policy := func() string {
		out, err := f.iam.GetRolePolicy(t.Context(), &iam.GetRolePolicyInput{RoleName: &role.Name, PolicyName: &role.PolicyName})
		if err != nil {
			return ""
		}
		return *out.PolicyDocument
	}
	asked := policy()
	admin := s3.NewFromConfig(f.aws.As(f.aws.Administrator(testAccount)), func(o *s3.Options) { o.UsePathStyle = true })
	for _, bucket := range []string{"keys", "data"} {
		f.aws.Must(admin.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "us-west-2"}}))
	}
	token := issuer.Sign(t, 0, issuer.Claims("system:serviceaccount:"+f.namespace+":app", "sts.amazonaws.com"))
	session := must.Get(sts.NewFromConfig(f.aws.As(aws.Credentials{})).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role.ARN, RoleSessionName: aws.String("app"), WebIdentityToken: &token,
	}))(t).Credentials
	as := f.aws.As(aws.Credentials{AccessKeyID: *session.AccessKeyId, SecretAccessKey: *session.SecretAccessKey, SessionToken: *session.SessionToken})
	objects, roles := s3.NewFromConfig(as, func(o *s3.Options) { o.UsePathStyle = true }), iam.NewFromConfig(as)
	put := func(bucket string) error {
		return awstest.Err(objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("keys.json"), Body: strings.NewReader("{}")}))
	}
	f.aws.Must(objects.ListBuckets(t.Context(), &s3.ListBucketsInput{}))
	must.Do(t, put("data"))
	nothing := aws.String(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`)
	for name, err := range map[string]error{
		"writes keys":                put("keys"),
		"opens the bucket":           awstest.Err(objects.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: aws.String("keys"), Policy: nothing})),
		"becomes the publisher":      awstest.Err(sts.NewFromConfig(as).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: &publisherARN, RoleSessionName: aws.String("app")})),
		"changes the publisher":      awstest.Err(roles.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: aws.String(publisher), PolicyName: aws.String("x"), PolicyDocument: nothing})),
		"loosens its own boundary":   awstest.Err(roles.CreatePolicyVersion(t.Context(), &iam.CreatePolicyVersionInput{PolicyArn: aws.String(testPolicyARN), PolicyDocument: nothing, SetAsDefault: true})),
		"deletes the issuer's trust": awstest.Err(roles.DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider})),
	} {
		if refused := awstest.Refusal(nil, err); !strings.Contains(refused, "AccessDenied") {
			t.Errorf("a role that %s gets %q, want AccessDenied", name, refused)
		}
	}
	f.bound(document("*", "*"))
	ahead += 2 * time.Minute
	f.until(request, func(g *v1alpha1.CredentialsGrant) error {
		if policy() != "" {
			return errors.New("the role still has its policy")
		}
		return has(core.TypeReady, metav1.ConditionFalse, string(core.ReasonReachesProtected))(g)
	})
	if refused := awstest.Refusal(nil, put("keys")); !strings.Contains(refused, "AccessDenied") {
		t.Errorf("under the loose boundary, a session from before gets %q for the keys, want AccessDenied", refused)
	}
	if told := f.heard(); strings.Count(told, "PolicyWithdrawn") != 1 {
		t.Errorf("told %q, want once that the policy is withdrawn", told)
	}
	f.bound(kept)
	ahead += 2 * time.Minute
	f.until(request, isReady)
	if policy() != asked {
		t.Errorf("the policy is %q, want %q again", policy(), asked)
	}
}
