package minter_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// creation is a role that the minter may make, and what a thief changes of it.
func (w *world) creation(name string, change func(*iam.CreateRoleInput)) *iam.CreateRoleInput {
	input := &iam.CreateRoleInput{
		RoleName: &name, Path: aws.String(path), AssumeRolePolicyDocument: &w.app,
		PermissionsBoundary: aws.String(w.minter.BoundaryARN()), Tags: tags(credentials.ClusterTag, "prod"),
	}
	if change != nil {
		change(input)
	}
	return input
}

// TestAStolenSessionOfTheMinterEscalatesNowhere holds the role of "tabard credentials
// bootstrap" to what it is for.
func TestAStolenSessionOfTheMinterEscalatesNowhere(t *testing.T) {
	w := newWorld(t)
	config := w.session("/"+minterName, "tabard-system:tabard-credentials")
	c, ctx := iam.NewFromConfig(config), t.Context()
	create := func(name string, change func(*iam.CreateRoleInput)) func() (any, error) {
		return func() (any, error) { return did(c.CreateRole(ctx, w.creation(name, change))) }
	}
	put := func(role string) func() (any, error) {
		return func() (any, error) {
			return did(c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &role, PolicyName: aws.String("p"), PolicyDocument: aws.String(everything)}))
		}
	}
	trust := func(role string) func() (any, error) {
		return func() (any, error) {
			return did(c.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &role, PolicyDocument: &w.app}))
		}
	}
	tag := func(role, cluster string) func() (any, error) {
		return func() (any, error) {
			return did(c.TagRole(ctx, &iam.TagRoleInput{RoleName: &role, Tags: tags(credentials.ClusterTag, cluster)}))
		}
	}
	attach := func(role string) func() (any, error) {
		return func() (any, error) {
			return did(c.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: aws.String("arn:aws:iam::aws:policy/AdministratorAccess")}))
		}
	}
	bind := func(role, boundary string) func() (any, error) {
		return func() (any, error) {
			return did(c.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &role, PermissionsBoundary: &boundary}))
		}
	}
	bound := w.minter.BoundaryARN()
	refused(t, []deed{
		{"make a role without a boundary", create("prod-x", func(i *iam.CreateRoleInput) { i.PermissionsBoundary = nil })},
		{"make a role under another boundary", create("prod-x", func(i *iam.CreateRoleInput) { i.PermissionsBoundary = aws.String(wide) })},
		{"make a role at another path", create("prod-x", func(i *iam.CreateRoleInput) { i.Path = nil })},
		{"make a role below the path", create("prod-x", func(i *iam.CreateRoleInput) { i.Path = aws.String("/tabard/eu/") })},
		{"make a role of another cluster's name", create("stage-x", nil)},
		{"make a role of another cluster whose name begins alike", create("prod-eu-x", func(i *iam.CreateRoleInput) { i.Tags = tags(credentials.ClusterTag, "prod-eu") })},
		{"make a role without the cluster's tag", create("prod-x", func(i *iam.CreateRoleInput) { i.Tags = nil })},
		{"take the boundary of a role away", func() (any, error) {
			return did(c.DeleteRolePermissionsBoundary(ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: aws.String("prod-app")}))
		}},
		{"give a role a wider boundary", bind("prod-app", wide)},
		{"attach AdministratorAccess to a role", attach("prod-app")},
		{"attach AdministratorAccess to its own role", attach(minterName)},
		{"put a policy on its own role", put(minterName)},
		{"put a policy on a role without a boundary", put("prod-bare")},
		{"put a policy on a role of another cluster whose name begins alike", put("prod-eu-app")},
		{"be trusted by its own role for another subject", trust(minterName)},
		{"be trusted by the issuer's role", trust(issuerRole)},
		{"be trusted by a role of another cluster", trust("prod-eu-app")},
		{"be trusted by a role of the path without the cluster's tag", trust("prod-bare")},
		{"be trusted by a role of the cluster's name at another path", trust("prod-at-root")},
		{"own a role of another cluster by a tag", tag("prod-eu-app", "prod")},
		{"own a role at another path by a tag", tag("prod-at-root", "prod")},
		{"own its own role by a tag", tag(minterName, "prod")},
		{"give a role away by a tag", tag("prod-app", "prod-eu")},
		{"shed the cluster's tag", func() (any, error) {
			return did(c.UntagRole(ctx, &iam.UntagRoleInput{RoleName: aws.String("prod-app"), TagKeys: []string{credentials.ClusterTag}}))
		}},
		{"write the boundary", func() (any, error) {
			return did(c.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{PolicyArn: &bound, PolicyDocument: aws.String(everything), SetAsDefault: true}))
		}},
		{"go back to an older boundary", func() (any, error) {
			return did(c.SetDefaultPolicyVersion(ctx, &iam.SetDefaultPolicyVersionInput{PolicyArn: &bound, VersionId: aws.String("v1")}))
		}},
		{"delete the boundary", func() (any, error) { return did(c.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: &bound})) }},
		{"delete the issuer's role", func() (any, error) {
			return did(c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String(issuerRole)}))
		}},
		{"make a user", func() (any, error) {
			return did(c.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("mallory")}))
		}},
		{"make an access key", func() (any, error) {
			return did(c.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: aws.String("alice")}))
		}},
		{"become a role that trusts the account", func() (any, error) {
			return did(sts.NewFromConfig(config).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(root + "role/prod-at-root"), RoleSessionName: aws.String("thief")}))
		}},
		{"write the issuer's keys", func() (any, error) {
			return did(w.s3(config).PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("keys.json"), Body: strings.NewReader("{}")}))
		}},
	})
	allowed(t, []deed{
		{"make a role", create("prod-x", nil)},
		{"put a policy on it", put("prod-x")},
		{"change its trust", trust("prod-x")},
		{"put its boundary back", bind("prod-x", bound)},
		{"tag it", tag("prod-x", "prod")},
		{"look at it", func() (any, error) { return did(c.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("prod-x")})) }},
		{"look at its policy", func() (any, error) {
			return did(c.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: aws.String("prod-x"), PolicyName: aws.String("p")}))
		}},
		{"change its session", func() (any, error) {
			return did(c.UpdateRole(ctx, &iam.UpdateRoleInput{RoleName: aws.String("prod-x"), MaxSessionDuration: aws.Int32(7200)}))
		}},
		{"look at all roles", func() (any, error) { return did(c.ListRoles(ctx, &iam.ListRolesInput{})) }},
		{"look at all roles with their policies", func() (any, error) {
			return did(c.GetAccountAuthorizationDetails(ctx, &iam.GetAccountAuthorizationDetailsInput{}))
		}},
		{"look at the account's quotas", func() (any, error) { return did(c.GetAccountSummary(ctx, &iam.GetAccountSummaryInput{})) }},
		{"look at the issuer's provider", func() (any, error) {
			return did(c.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &w.minter.Providers[0]}))
		}},
		{"delete its policy", func() (any, error) {
			return did(c.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: aws.String("prod-x"), PolicyName: aws.String("p")}))
		}},
		{"delete it", func() (any, error) {
			return did(c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: aws.String("prod-x")}))
		}},
	})
}

// TestARoleThatMayDoEverythingStaysWithinItsBound is the thief's way by a role that the
// minter makes: one with the policy *, which trusts the thief.
func TestARoleThatMayDoEverythingStaysWithinItsBound(t *testing.T) {
	w := newWorld(t)
	config := w.session(path+"prod-app", "team-a:app")
	c, files, ctx := iam.NewFromConfig(config), w.s3(config), t.Context()
	create := func(boundary *string) func() (any, error) {
		return func() (any, error) {
			return did(c.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("other"), AssumeRolePolicyDocument: &w.app, PermissionsBoundary: boundary}))
		}
	}
	refused(t, []deed{
		{"write the issuer's keys", func() (any, error) {
			return did(files.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("keys.json"), Body: strings.NewReader("{}")}))
		}},
		{"delete the issuer's keys", func() (any, error) {
			return did(files.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("keys.json")}))
		}},
		{"let others write the issuer's bucket", func() (any, error) {
			return did(files.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: aws.String(bucket), Policy: aws.String(`{"Version":"2012-10-17","Statement":[]}`)}))
		}},
		{"become the minter", func() (any, error) {
			return did(sts.NewFromConfig(config).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(w.minter.RoleARN()), RoleSessionName: aws.String("thief")}))
		}},
		{"become the issuer's role, which trusts the account", func() (any, error) {
			return did(sts.NewFromConfig(config).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(root + "role/" + issuerRole), RoleSessionName: aws.String("thief")}))
		}},
		{"make a role without a boundary", create(nil)},
		{"make a role under another boundary", create(aws.String(wide))},
		{"lose its own boundary", func() (any, error) {
			return did(c.DeleteRolePermissionsBoundary(ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: aws.String("prod-app")}))
		}},
		{"get a wider boundary", func() (any, error) {
			return did(c.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: aws.String("prod-app"), PermissionsBoundary: aws.String(wide)}))
		}},
		{"write the boundary", func() (any, error) {
			return did(c.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{PolicyArn: aws.String(w.minter.BoundaryARN()), PolicyDocument: aws.String(everything), SetAsDefault: true}))
		}},
		{"be trusted by a role without a boundary", func() (any, error) {
			return did(c.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String("prod-at-root"), PolicyDocument: &w.app}))
		}},
		{"put a policy on a role without a boundary", func() (any, error) {
			return did(c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String("prod-bare"), PolicyName: aws.String("p"), PolicyDocument: aws.String(everything)}))
		}},
		{"put a policy on the minter's role", func() (any, error) {
			return did(c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String(minterName), PolicyName: aws.String("p"), PolicyDocument: aws.String(everything)}))
		}},
		{"have the minter take a role for its own", func() (any, error) {
			return did(c.TagRole(ctx, &iam.TagRoleInput{RoleName: aws.String("prod-bare"), Tags: tags(strings.ToUpper(credentials.ClusterTag), "prod")}))
		}},
		{"make a user", func() (any, error) {
			return did(c.CreateUser(ctx, &iam.CreateUserInput{UserName: aws.String("mallory")}))
		}},
		{"make an access key", func() (any, error) {
			return did(c.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: aws.String("alice")}))
		}},
		{"delete the issuer's provider", func() (any, error) {
			return did(c.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &w.minter.Providers[0]}))
		}},
	})
	allowed(t, []deed{
		{"read the issuer's keys", func() (any, error) {
			return did(files.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("keys.json")}))
		}},
		{"make another bucket", func() (any, error) {
			return did(files.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("data-of-a-team"), CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: s3types.BucketLocationConstraintEuCentral1}}))
		}},
		{"make a role under its own boundary", create(aws.String(w.minter.BoundaryARN()))},
		{"look at a user", func() (any, error) { return did(c.GetUser(ctx, &iam.GetUserInput{UserName: aws.String("alice")})) }},
	})
}
