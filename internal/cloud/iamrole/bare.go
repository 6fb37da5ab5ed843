package iamrole

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// A bare role is one whose policies are nobody's business here: it is judged by who may
// become it. It asks of IAM for iam:GetRole, iam:CreateRole, iam:TagRole,
// iam:UpdateAssumeRolePolicy and iam:DeleteRole on the role, and iam:ListRoles.

// GetBare reads a role without its policies, in one call. One that is gone is
// Exists=false.
func (r *Roles) GetBare(ctx context.Context, id identity.Identity, name string) (cloud.BareRole, error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return cloud.BareRole{}, api.Fault("GetRole", err)
	}
	out, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	switch known := api.Fault("GetRole", err); {
	case cloud.Is(known, fault.Gone):
		return cloud.BareRole{}, nil
	case known != nil:
		return cloud.BareRole{}, known
	case out.Role == nil:
		return cloud.BareRole{}, withoutRole("GetRole")
	}
	seen := bareOf(out.Role)
	seen.Tags, seen.Boundary = tagsOf(out.Role.Tags), boundaryOf(out.Role.PermissionsBoundary)
	return seen, nil
}

// bareOf is a role as a list tells of it, which knows no tags.
func bareOf(role *types.Role) cloud.BareRole {
	return cloud.BareRole{
		Exists: true, Name: aws.ToString(role.RoleName), ARN: aws.ToString(role.Arn), ID: aws.ToString(role.RoleId),
		Trust: plain(aws.ToString(role.AssumeRolePolicyDocument)),
	}
}

// AllBare hands over every role of the account without its policies and tags, one by one,
// in IAM's order, until the function returns an error, which AllBare returns as it is. One
// call serves up to 1000 roles.
func (r *Roles) AllBare(ctx context.Context, id identity.Identity, each func(cloud.BareRole) error) error {
	c, err := r.client(ctx, id)
	if err != nil {
		return api.Fault("ListRoles", err)
	}
	pages := iam.NewListRolesPaginator(c, &iam.ListRolesInput{MaxItems: aws.Int32(fullPage)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return api.Fault("ListRoles", err)
		}
		for i := range page.Roles {
			if err := each(bareOf(&page.Roles[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// CreateBare makes a role with the owner's tag, in one call, and returns its unique ID.
// One of that name that carries the owner's tag is success, one that lacks it is a fault
// Exists and is not touched.
func (r *Roles) CreateBare(ctx context.Context, id identity.Identity, want cloud.RoleWant, owner cloud.Tag) (uniqueID string, err error) {
	const operation = "CreateRole"
	c, err := r.client(ctx, id)
	if err != nil {
		return "", api.Fault(operation, err)
	}
	out, err := c.CreateRole(ctx, createInput(want, owner))
	switch known := api.Fault(operation, err); {
	case known == nil && out.Role == nil:
		return "", withoutRole(operation)
	case known == nil:
		return aws.ToString(out.Role.RoleId), nil
	case !cloud.Is(known, fault.Exists):
		return "", known
	}
	seen, err := r.GetBare(ctx, id, want.Name)
	switch {
	case err != nil:
		return "", err
	case !seen.Exists:
		return "", fault.Fault{Class: fault.Retry, Service: string(api), Operation: operation, Message: "the role " + want.Name + " was there, and went"}
	case !owner.Of(seen.Tags):
		return "", api.Foreign(operation, "the role "+want.Name, owner)
	}
	return seen.ID, nil
}

// DeleteBare removes a role that carries the owner's tag, and nothing that is held by it:
// policies of others are AWS's DeleteConflict, a fault Invalid. One that is gone is
// success, one without the tag is a fault Exists.
func (r *Roles) DeleteBare(ctx context.Context, id identity.Identity, name string, owner cloud.Tag) error {
	const operation = "DeleteRole"
	c, err := r.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	seen, err := r.GetBare(ctx, id, name)
	switch {
	case err != nil || !seen.Exists:
		return err
	case !owner.Of(seen.Tags):
		return api.Foreign(operation, "the role "+name, owner)
	}
	_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
	return api.UnlessGone(operation, err)
}
