// Package iamrole reads and changes IAM roles with their policies: the roles that
// Tabard's own ServiceAccounts get, those that it mints for others, and the trust of
// all that there are.
//
// What it asks of IAM for a minted role, on the role: iam:GetRole, iam:ListRolePolicies,
// iam:GetRolePolicy, iam:ListAttachedRolePolicies, iam:CreateRole, iam:TagRole,
// iam:UntagRole, iam:UpdateRole, iam:UpdateAssumeRolePolicy,
// iam:PutRolePermissionsBoundary, iam:DeleteRolePermissionsBoundary, iam:PutRolePolicy,
// iam:DeleteRolePolicy, iam:DetachRolePolicy, iam:DeleteRole; on all of the account:
// iam:ListRoles, iam:GetAccountAuthorizationDetails, iam:GetAccountSummary; on boundary
// policies: iam:GetPolicy, iam:GetPolicyVersion. EnsurePolicy asks for iam:CreatePolicy, iam:TagPolicy,
// iam:ListPolicies, iam:GetPolicy, iam:GetPolicyVersion, iam:ListPolicyVersions,
// iam:DeletePolicyVersion and iam:CreatePolicyVersion.
package iamrole

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

const api = cloud.API("IAM")

// What Ensure can have changed.
const (
	ChangedRole     = "role"
	ChangedTrust    = "trust policy"
	ChangedPolicy   = "permission policy"
	ChangedBoundary = "permissions boundary"
	ChangedTags     = "tags"
)

// Want is a role as it should be. Both policies are JSON documents.
type Want struct {
	// RoleWant has a Description and a MaxSession that are set when the role is created, and
	// not afterwards. An empty Boundary leaves the one that the role has.
	cloud.RoleWant
	// Owner is the tag that says whose the role is.
	Owner cloud.Tag
	// PolicyName and Policy are the one inline policy.
	PolicyName, Policy string
}

// Roles are the roles of whichever account an identity leads to. All errors
// are fault.Fault values. It is safe for concurrent use.
type Roles struct{ auth *awsauth.Auth }

// New makes Roles that get their identities from auth.
func New(auth *awsauth.Auth) *Roles { return &Roles{auth: auth} }

func (r *Roles) client(ctx context.Context, id identity.Identity) (client, error) {
	config, err := r.auth.Config(ctx, id)
	if err != nil {
		return nil, err
	}
	return iam.NewFromConfig(config), nil
}

// Ensure makes the role as wanted and says what it changed, in order; also when
// it fails in the middle. Policies are compared by meaning of their JSON, not
// byte by byte. A role of that name without the owner's tag is a fault Exists and is
// not touched. Inline policies of other names stay.
func (r *Roles) Ensure(ctx context.Context, id identity.Identity, want Want) (arn string, changed []string, err error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return "", nil, api.Fault("GetRole", err)
	}
	got, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: &want.Name})
	known := api.Fault("GetRole", err)
	switch {
	case cloud.Is(known, fault.Gone):
		if arn, err = create(ctx, c, want); err != nil {
			return "", nil, err
		}
		changed = append(changed, ChangedRole)
	case known != nil:
		return "", nil, known
	case !isOf(want.Owner, got.Role):
		return "", nil, api.Foreign("GetRole", "the role "+want.Name, want.Owner)
	default:
		arn = aws.ToString(got.Role.Arn)
		if changed, err = keep(ctx, c, got.Role, want); err != nil {
			return arn, changed, err
		}
	}
	put, err := ensurePolicy(ctx, c, want)
	if put {
		changed = append(changed, ChangedPolicy)
	}
	return arn, changed, err
}

func create(ctx context.Context, c client, want Want) (string, error) {
	out, err := c.CreateRole(ctx, createInput(want.RoleWant, want.Owner))
	if err != nil {
		return "", api.Fault("CreateRole", err)
	}
	if out.Role == nil {
		return "", withoutRole("CreateRole")
	}
	return aws.ToString(out.Role.Arn), nil
}

// keep makes a role of the owner's as wanted, but for its policy.
func keep(ctx context.Context, c client, got *types.Role, want Want) (changed []string, err error) {
	if at := aws.ToString(got.Path); want.Path != "" && at != want.Path {
		return nil, fault.Fault{
			Class: fault.Exists, Service: string(api), Operation: "GetRole",
			Message: fmt.Sprintf("the role %s is at the path %s, and IAM moves no role to another, such as %s", want.Name, at, want.Path),
		}
	}
	if !sameDocument(aws.ToString(got.AssumeRolePolicyDocument), want.Trust) {
		if err := setTrust(ctx, c, want); err != nil {
			return nil, err
		}
		changed = append(changed, ChangedTrust)
	}
	if want.Boundary != "" && want.Boundary != boundaryOf(got.PermissionsBoundary) {
		_, err := c.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &want.Name, PermissionsBoundary: &want.Boundary})
		if err != nil {
			return changed, api.Fault("PutRolePermissionsBoundary", err)
		}
		changed = append(changed, ChangedBoundary)
	}
	if lacks := lacking(got.Tags, want.Tags); len(lacks) > 0 {
		if _, err := c.TagRole(ctx, &iam.TagRoleInput{RoleName: &want.Name, Tags: tagList(lacks)}); err != nil {
			return changed, api.Fault("TagRole", err)
		}
		changed = append(changed, ChangedTags)
	}
	return changed, nil
}

// boundaryOf is the ARN of a role's permissions boundary, empty for none.
func boundaryOf(boundary *types.AttachedPermissionsBoundary) string {
	if boundary == nil {
		return ""
	}
	return aws.ToString(boundary.PermissionsBoundaryArn)
}

// lacking are the wanted tags that a role does not have.
func lacking(got []types.Tag, want map[string]string) map[string]string {
	lacks := maps.Clone(want)
	for _, tag := range got {
		if value, wanted := want[aws.ToString(tag.Key)]; wanted && value == aws.ToString(tag.Value) {
			delete(lacks, aws.ToString(tag.Key))
		}
	}
	return lacks
}

func setTrust(ctx context.Context, c client, want Want) error {
	_, err := c.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{
		RoleName: &want.Name, PolicyDocument: &want.Trust,
	})
	return api.Fault("UpdateAssumeRolePolicy", err)
}

// ensurePolicy puts the inline policy if it is not there or another one.
func ensurePolicy(ctx context.Context, c client, want Want) (put bool, err error) {
	got, err := c.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &want.Name, PolicyName: &want.PolicyName})
	known := api.Fault("GetRolePolicy", err)
	if known != nil && !cloud.Is(known, fault.Gone) {
		return false, known
	}
	if known == nil && sameDocument(aws.ToString(got.PolicyDocument), want.Policy) {
		return false, nil
	}
	_, err = c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{
		RoleName: &want.Name, PolicyName: &want.PolicyName, PolicyDocument: &want.Policy,
	})
	return err == nil, api.Fault("PutRolePolicy", err)
}

// TrustedBy names the roles of the account whose trust policy mentions a
// provider, sorted. It reads every role, page by page.
func (r *Roles) TrustedBy(ctx context.Context, id identity.Identity, providerARN string) ([]string, error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return nil, api.Fault("ListRoles", err)
	}
	return trustedBy(ctx, c, providerARN)
}

func trustedBy(ctx context.Context, c client, providerARN string) ([]string, error) {
	var names []string
	pages := iam.NewListRolesPaginator(c, &iam.ListRolesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, api.Fault("ListRoles", err)
		}
		for _, role := range page.Roles {
			if mentions(aws.ToString(role.AssumeRolePolicyDocument), providerARN) {
				names = append(names, aws.ToString(role.RoleName))
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// isOf says whether a role carries the owner's tag; one that IAM did not send has
// none.
func isOf(owner cloud.Tag, role *types.Role) bool {
	return role != nil && slices.ContainsFunc(role.Tags, func(tag types.Tag) bool {
		return owner == cloud.Tag{Key: aws.ToString(tag.Key), Value: aws.ToString(tag.Value)}
	})
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
