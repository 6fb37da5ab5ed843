// Package minter_test tries what a thief of the minter's session, or of a session of a role
// that it made, could do with it in the local AWS. Nothing of ours is on the thief's side.
package minter_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account    = "123456789012"
	root       = "arn:aws:iam::" + account + ":"
	path       = "/tabard/"
	everything = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	nobody     = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + account + `"},"Action":"sts:AssumeRole"}]}`
	wide       = root + "policy/wide"
	minterName = "prod-tabard-credentials"
	issuerRole = "tabard-issuer-main"
	bucket     = "issuer-bucket"
)

// world is an account with what two clusters have in it, "prod" and "prod-eu".
type world struct {
	*awstest.Lab
	t      *testing.T
	issuer *awstest.Issuer
	minter credentials.Minter
	// app is the trust of the roles that were made: a pod's, and a thief's who got its token.
	app string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	awstest.Isolate(t)
	w := &world{t: t, issuer: awstest.StartIssuer(t)}
	w.Lab = awstest.Start(t, awslocal.Options{Accounts: []string{account}, TrustedCAs: w.issuer.Roots()})
	provider := w.Provider(account, w.issuer.Issuer(), "sts.amazonaws.com")
	w.minter = credentials.Minter{
		Partition: "aws", Account: account, Infrastructure: "prod", Paths: []string{path},
		Buckets: []string{bucket}, Providers: []string{provider}, Roles: []string{root + "role/" + issuerRole},
	}
	w.policy(w.minter.BoundaryName(), path, must.Get(w.minter.BoundaryPolicy())(t))
	w.policy("wide", "/", everything)
	w.Role(account, minterName, must.Get(credentials.MinterTrust([]string{provider}, "tabard-system", "tabard-credentials"))(t), must.Get(w.minter.PermissionPolicy())(t))
	w.Role(account, issuerRole, nobody, everything)
	w.Role(account, "prod-at-root", nobody, everything)
	w.app = awstest.Trust(provider, "system:serviceaccount:team-a:app", "sts.amazonaws.com")
	w.minted("prod-app", w.minter.BoundaryARN(), "prod", w.app)
	w.minted("prod-eu-app", w.minter.BoundaryARN(), "prod-eu", nobody)
	w.minted("prod-bare", "", "", nobody)
	w.User(account, "alice", everything)
	admin := w.s3(w.As(w.Administrator(account)))
	w.Must(admin.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket), CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: "eu-central-1"}}))
	w.Must(admin.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("keys.json"), Body: strings.NewReader("{}")}))
	return w
}

func (w *world) s3(config aws.Config) *s3.Client {
	return s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
}

// policy makes a managed policy.
func (w *world) policy(name, path, document string) {
	w.t.Helper()
	w.Must(w.IAM(account).CreatePolicy(w.t.Context(), &iam.CreatePolicyInput{PolicyName: &name, Path: &path, PolicyDocument: &document}))
}

// minted makes a role at the controllers' path that may do everything, as far as its
// boundary lets it.
func (w *world) minted(name, boundary, cluster, trust string) {
	w.t.Helper()
	input := &iam.CreateRoleInput{RoleName: &name, Path: aws.String(path), AssumeRolePolicyDocument: &trust}
	if boundary != "" {
		input.PermissionsBoundary = &boundary
	}
	if cluster != "" {
		input.Tags = tags(credentials.ClusterTag, cluster)
	}
	w.Must(w.IAM(account).CreateRole(w.t.Context(), input))
	w.RolePolicy(account, name, everything)
}

func tags(key, value string) []iamtypes.Tag { return []iamtypes.Tag{{Key: &key, Value: &value}} }

// session is what the thief of a token of a ServiceAccount becomes.
func (w *world) session(role, subject string) aws.Config {
	w.t.Helper()
	token := w.issuer.Sign(w.t, 0, w.issuer.Claims("system:serviceaccount:"+subject, "sts.amazonaws.com"))
	got := must.Get(sts.NewFromConfig(w.As(aws.Credentials{})).AssumeRoleWithWebIdentity(w.t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String(root + "role" + role), RoleSessionName: aws.String("thief"), WebIdentityToken: &token,
	}))(w.t)
	c := got.Credentials
	return w.As(aws.Credentials{AccessKeyID: *c.AccessKeyId, SecretAccessKey: *c.SecretAccessKey, SessionToken: *c.SessionToken})
}

// deed is one call.
type deed struct {
	name string
	do   func() (any, error)
}

func did[T any](out T, err error) (any, error) { return out, err }

// refused demands that AWS refuses each deed for a lack of rights.
func refused(t *testing.T, deeds []deed) {
	t.Helper()
	for _, d := range deeds {
		if said := awstest.Refusal(d.do()); !strings.HasPrefix(said, "AccessDenied: ") || !strings.Contains(said, "not authorized to perform") {
			t.Errorf("%s: %q, want AccessDenied", d.name, said)
		}
	}
}

// allowed demands that AWS does each deed, in order: so that what is refused is refused for
// what it is, and not because nothing is allowed.
func allowed(t *testing.T, deeds []deed) {
	t.Helper()
	for _, d := range deeds {
		if said := awstest.Refusal(d.do()); said != "" {
			t.Errorf("%s: %q, want it done", d.name, said)
		}
	}
}
