package credentials_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	publisherARN     = "arn:aws:iam::" + testAccount + ":role/tabard-publisher"
	elsewhereARN     = "arn:aws:iam::" + testAccount + ":role/elsewhere"
	trustsTheAccount = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + testAccount + `:root"},"Action":"sts:AssumeRole"}}`
)

// operatorWorld is the controller, with the bootstrap's permissions boundary, Tabard's own
// publisher, and an account with buckets and a role of others.
type operatorWorld struct {
	*fixture
	// provider is the ARN of the issuer's.
	provider string
}

func newOperatorWorld(f *fixture) *operatorWorld {
	f.Helper()
	w := &operatorWorld{f, "arn:aws:iam::" + testAccount + ":oidc-provider/" + strings.TrimPrefix(f.issuer, "https://")}
	for _, arn := range []string{publisherARN, elsewhereARN} {
		f.aws.Role(testAccount, arn[strings.LastIndex(arn, "/")+1:], trustsTheAccount, document("s3:*", "*"))
	}
	f.bound(must.Get(core.Minter{
		Partition: "aws", Account: testAccount, Infrastructure: infra, Paths: []string{"/tabard/"}, Boundaries: []string{testPolicyARN},
		Buckets: []string{"keys"}, Providers: []string{w.provider}, Roles: []string{publisherARN},
	}.BoundaryPolicy())(f))
	f.Make(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "tabard-issuer"}, Data: map[string]string{"roleARN": publisherARN}})
	f.options = func(o *credentials.Options) {
		o.Own = credentials.OwnConfigs{Reader: f.Cluster, Namespace: f.namespace, Names: []string{"tabard-issuer"}}
	}
	f.start(f.TB.(*testing.T))
	admin := objectsOf(f.aws.As(f.aws.Administrator(testAccount)))
	for _, bucket := range []string{"keys", "data", "example-backups"} {
		f.aws.Must(admin.CreateBucket(f.Context(), inWest(bucket)))
		f.aws.Must(admin.PutObject(f.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("x"), Body: strings.NewReader("x")}))
	}
	return w
}

// in is the world for a part of the test.
func (w *operatorWorld) in(t *testing.T) *operatorWorld {
	t.Helper()
	inner := *w.fixture
	inner.Cluster = w.In(t)
	return &operatorWorld{&inner, w.provider}
}

func objectsOf(as aws.Config) *s3.Client {
	return s3.NewFromConfig(as, func(o *s3.Options) { o.UsePathStyle = true })
}

func inWest(bucket string) *s3.CreateBucketInput {
	return &s3.CreateBucketInput{Bucket: &bucket, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "us-west-2"}}
}

// nobodys are calls that no operator needs.
var nobodys = []call{
	{action: "ec2:DeleteVpc", resource: "arn:aws:ec2:us-west-2:" + testAccount + ":vpc/x"},
	{action: "iam:CreateUser", resource: "arn:aws:iam::" + testAccount + ":user/x"},
	{action: "iam:PassRole", resource: elsewhereARN},
	{action: "kms:ScheduleKeyDeletion", resource: "arn:aws:kms:us-west-2:" + testAccount + ":key/x"},
	{action: "lambda:InvokeFunction", resource: "arn:aws:lambda:us-west-2:" + testAccount + ":function:x"},
	{action: "organizations:LeaveOrganization", resource: "*"},
	{action: "rds:DeleteDBInstance", resource: "arn:aws:rds:us-west-2:" + testAccount + ":db:x"},
	{action: "route53:DeleteHostedZone", resource: "arn:aws:route53:::hostedzone/x"},
	{action: "s3:GetObject", resource: "arn:aws:s3:::payroll/x"},
	{action: "s3:PutBucketPolicy", resource: "arn:aws:s3:::example-backups"},
	{action: "secretsmanager:GetSecretValue", resource: "arn:aws:secretsmanager:us-west-2:" + testAccount + ":secret:payroll"},
	{action: "ssm:GetParameter", resource: "arn:aws:ssm:us-west-2:" + testAccount + ":parameter/payroll"},
	{action: "sts:AssumeRole", resource: elsewhereARN},
}

// kept are calls that no role of a request may make, whatever was asked for.
func (w *operatorWorld) kept() []call {
	return []call{
		{action: "iam:CreateAccessKey", resource: "arn:aws:iam::" + testAccount + ":user/x"},
		{action: "iam:CreatePolicyVersion", resource: testPolicyARN},
		{action: "iam:CreateServiceLinkedRole", resource: publisherARN},
		{action: "iam:DeleteOpenIDConnectProvider", resource: w.provider},
		{action: "iam:PassRole", resource: publisherARN},
		{action: "iam:PutRolePolicy", resource: publisherARN},
		{action: "s3:DeleteObject", resource: "arn:aws:s3:::keys/x"},
		{action: "s3:PutObject", resource: "arn:aws:s3:::keys/x"},
		{action: "s3:PutBucketTagging", resource: "arn:aws:s3:::keys"},
		{action: "sts:AssumeRole", resource: publisherARN},
	}
}

// session has the clients of somebody who has become a role.
type session struct {
	objects *s3.Client
	roles   *sts.Client
	users   *iam.Client
	hosts   *ec2.Client
}

// become has a token of a ServiceAccount become a role.
func (w *operatorWorld) become(role *v1alpha1.GrantedRole, namespace, account string) (*session, error) {
	w.Helper()
	token := w.Token(namespace, account, 0, "sts.amazonaws.com")
	out, err := sts.NewFromConfig(w.aws.As(aws.Credentials{})).AssumeRoleWithWebIdentity(w.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role.ARN, RoleSessionName: aws.String("app"), WebIdentityToken: &token,
	})
	if err != nil {
		return nil, err
	}
	as := w.aws.As(aws.Credentials{AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, SessionToken: *out.Credentials.SessionToken})
	return &session{objectsOf(as), sts.NewFromConfig(as), iam.NewFromConfig(as), ec2.NewFromConfig(as)}, nil
}

// makes has a session of the role make each call that the local AWS plays: it may make those
// that were asked for. Nobody else's token becomes the role.
func (w *operatorWorld) makes(t *testing.T, one example, role *v1alpha1.GrantedRole) (n tally) {
	t.Helper()
	namesake := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: one.account().Name}}
	w.Make(namesake)
	if _, err := w.become(role, namesake.Namespace, namesake.Name); !strings.HasPrefix(awstest.Refusal(nil, err), "AccessDenied") {
		t.Errorf("%s: a ServiceAccount of the same name in another namespace gets %v, want AccessDenied", one.name, err)
	}
	as := must.Get(w.become(role, one.account().Namespace, one.account().Name))(t)
	for _, each := range played {
		refused := awstest.Refusal(nil, each.by(t, as, each.resource))
		may := len(fitting(one.entries, each.call)) > 0 &&
			!slices.ContainsFunc(w.kept(), func(c call) bool { return c.action == each.action && c.resource == each.resource })
		switch {
		case refused == "":
			n.allowed++
		case strings.HasPrefix(refused, "AccessDenied"), strings.HasPrefix(refused, "UnauthorizedOperation"):
			n.refused++
		default:
			t.Errorf("%s: %s on %s fails: %s", one.name, each.action, each.resource, refused)
		}
		if may != (refused == "") {
			t.Errorf("%s: %s on %s: asked for is %t, the answer is %q", one.name, each.action, each.resource, may, refused)
		}
	}
	return n
}

// played are calls that the local AWS knows.
var played = []struct {
	call
	by func(t *testing.T, as *session, resource string) error
}{
	{call{action: "ec2:DescribeInstanceTypes", resource: "*"}, func(t *testing.T, as *session, _ string) error {
		return awstest.Err(as.hosts.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(5)}))
	}},
	{call{action: "ec2:DescribeRegions", resource: "*"}, func(t *testing.T, as *session, _ string) error {
		return awstest.Err(as.hosts.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{}))
	}},
	{call{action: "iam:CreateUser", resource: "arn:aws:iam::" + testAccount + ":user/x"}, func(t *testing.T, as *session, _ string) error {
		return awstest.Err(as.users.CreateUser(t.Context(), &iam.CreateUserInput{UserName: aws.String("x")}))
	}},
	{call{action: "s3:CreateBucket", resource: "arn:aws:s3:::registry"}, func(t *testing.T, as *session, _ string) error {
		return awstest.Err(as.objects.CreateBucket(t.Context(), inWest("registry")))
	}},
	{call{action: "s3:DeleteObject", resource: "arn:aws:s3:::example-backups/y"}, deletes},
	{call{action: "s3:GetObject", resource: "arn:aws:s3:::data/x"}, gets},
	{call{action: "s3:GetObject", resource: "arn:aws:s3:::example-backups/x"}, gets},
	{call{action: "s3:ListBucket", resource: "arn:aws:s3:::example-backups"}, func(t *testing.T, as *session, _ string) error {
		return awstest.Err(as.objects.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("example-backups")}))
	}},
	{call{action: "s3:PutBucketTagging", resource: "arn:aws:s3:::data"}, tags},
	{call{action: "s3:PutBucketTagging", resource: "arn:aws:s3:::keys"}, tags},
	{call{action: "s3:PutObject", resource: "arn:aws:s3:::example-backups/y"}, puts},
	{call{action: "s3:PutObject", resource: "arn:aws:s3:::keys/x"}, puts},
	{call{action: "sts:AssumeRole", resource: elsewhereARN}, becomes},
	{call{action: "sts:AssumeRole", resource: publisherARN}, becomes},
}

// object is the bucket and the key of an ARN.
func object(arn string) (bucket, key *string) {
	b, k, _ := strings.Cut(strings.TrimPrefix(arn, "arn:aws:s3:::"), "/")
	return &b, &k
}

func deletes(t *testing.T, as *session, resource string) error {
	bucket, key := object(resource)
	return awstest.Err(as.objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: bucket, Key: key}))
}

func gets(t *testing.T, as *session, resource string) error {
	bucket, key := object(resource)
	out, err := as.objects.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key})
	if err == nil {
		err = out.Body.Close()
	}
	return err
}

func puts(t *testing.T, as *session, resource string) error {
	bucket, key := object(resource)
	return awstest.Err(as.objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucket, Key: key, Body: strings.NewReader("y")}))
}

func tags(t *testing.T, as *session, resource string) error {
	bucket, _ := object(resource)
	return awstest.Err(as.objects.PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
		Bucket: bucket, Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("by"), Value: aws.String("it")}}},
	}))
}

func becomes(t *testing.T, as *session, resource string) error {
	return awstest.Err(as.roles.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: &resource, RoleSessionName: aws.String("app")}))
}
