package iamrole

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Create makes a role with the owner's tag, in one call. One of that name that
// carries the owner's tag is success with the ARN that it has, whatever else it is
// like; one that lacks the tag is a fault Exists and is not touched.
func (r *Roles) Create(ctx context.Context, id identity.Identity, want cloud.RoleWant, owner cloud.Tag) (arn string, err error) {
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
		return aws.ToString(out.Role.Arn), nil
	case !cloud.Is(known, fault.Exists):
		return "", known
	}
	got, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: &want.Name})
	if err != nil {
		return "", api.Fault("GetRole", err)
	}
	if !isOf(owner, got.Role) {
		return "", api.Foreign(operation, "the role "+want.Name, owner)
	}
	return aws.ToString(got.Role.Arn), nil
}

func createInput(want cloud.RoleWant, owner cloud.Tag) *iam.CreateRoleInput {
	tags := maps.Clone(want.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[owner.Key] = owner.Value
	input := &iam.CreateRoleInput{
		RoleName:                 &want.Name,
		AssumeRolePolicyDocument: &want.Trust,
		Path:                     optional(want.Path),
		Description:              optional(want.Description),
		PermissionsBoundary:      optional(want.Boundary),
		Tags:                     tagList(tags),
	}
	if want.MaxSession != 0 {
		input.MaxSessionDuration = wholeSeconds(want.MaxSession)
	}
	return input
}

// tagList is sorted, so that the same tags make the same call.
func tagList(tags map[string]string) []types.Tag {
	var list []types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return list
}

func wholeSeconds(d time.Duration) *int32 { return aws.Int32(int32(d / time.Second)) }

// The changes below are those of one role, by its name. They do not look whose the
// role is: the caller has just read its tags. A role that is gone is a fault Gone,
// unless something was to go.

// change makes one call for a role.
func (r *Roles) change(ctx context.Context, id identity.Identity, operation string, call func(client) error) error {
	c, err := r.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	return api.Fault(operation, call(c))
}

// gone is nil where what was to go is not there.
func gone(err error) error {
	if cloud.Is(err, fault.Gone) {
		return nil
	}
	return err
}

// SetTrust replaces the trust policy.
func (r *Roles) SetTrust(ctx context.Context, id identity.Identity, role, trust string) error {
	return r.change(ctx, id, "UpdateAssumeRolePolicy", func(c client) error {
		_, err := c.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &role, PolicyDocument: &trust})
		return err
	})
}

// PutPolicy makes or replaces one inline policy.
func (r *Roles) PutPolicy(ctx context.Context, id identity.Identity, role, name, policy string) error {
	return r.change(ctx, id, "PutRolePolicy", func(c client) error {
		_, err := c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &role, PolicyName: &name, PolicyDocument: &policy})
		return err
	})
}

// RemovePolicy deletes one inline policy; one that is gone is success.
func (r *Roles) RemovePolicy(ctx context.Context, id identity.Identity, role, name string) error {
	return gone(r.change(ctx, id, "DeleteRolePolicy", func(c client) error {
		_, err := c.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: &name})
		return err
	}))
}

// Detach takes an attached managed policy off the role, by its ARN; one that is not
// attached is success.
func (r *Roles) Detach(ctx context.Context, id identity.Identity, role, policyARN string) error {
	return gone(r.change(ctx, id, "DetachRolePolicy", func(c client) error {
		_, err := c.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: &policyARN})
		return err
	}))
}

// SetBoundary makes a managed policy the permissions boundary, by its ARN; an empty
// one removes the boundary, which is success where there is none.
func (r *Roles) SetBoundary(ctx context.Context, id identity.Identity, role, policyARN string) error {
	if policyARN == "" {
		return gone(r.change(ctx, id, "DeleteRolePermissionsBoundary", func(c client) error {
			_, err := c.DeleteRolePermissionsBoundary(ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: &role})
			return err
		}))
	}
	return r.change(ctx, id, "PutRolePermissionsBoundary", func(c client) error {
		_, err := c.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{
			RoleName: &role, PermissionsBoundary: &policyARN,
		})
		return err
	})
}

// SetTags removes tags by their keys, then adds and replaces others. Removal comes
// first: IAM's keys do not know case, so that removing "owner" after "Owner" was set
// would remove that; and a role has room for 50. Nothing to do is no call.
func (r *Roles) SetTags(ctx context.Context, id identity.Identity, role string, set map[string]string, remove []string) error {
	if len(remove) > 0 {
		err := r.change(ctx, id, "UntagRole", func(c client) error {
			_, err := c.UntagRole(ctx, &iam.UntagRoleInput{RoleName: &role, TagKeys: remove})
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(set) == 0 {
		return nil
	}
	return r.change(ctx, id, "TagRole", func(c client) error {
		_, err := c.TagRole(ctx, &iam.TagRoleInput{RoleName: &role, Tags: tagList(set)})
		return err
	})
}

// SetSession sets how long a session may last, from one to twelve hours in whole
// seconds. The description stays.
func (r *Roles) SetSession(ctx context.Context, id identity.Identity, role string, longest time.Duration) error {
	return r.change(ctx, id, "UpdateRole", func(c client) error {
		_, err := c.UpdateRole(ctx, &iam.UpdateRoleInput{RoleName: &role, MaxSessionDuration: wholeSeconds(longest)})
		return err
	})
}

// DeleteRole removes a role that carries the owner's tag, with its inline policies;
// one that is gone is success, one without the tag is a fault Exists. Attached managed
// policies are somebody's doing: they are a fault Invalid that names them, before
// anything is changed, and Detach takes them off.
func (r *Roles) DeleteRole(ctx context.Context, id identity.Identity, name string, owner cloud.Tag) error {
	c, err := r.client(ctx, id)
	if err != nil {
		return api.Fault("GetRole", err)
	}
	return gone(remove(ctx, c, name, owner))
}

func remove(ctx context.Context, c client, name string, owner cloud.Tag) error {
	const operation = "DeleteRole"
	got, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return api.Fault("GetRole", err)
	}
	if !isOf(owner, got.Role) {
		return api.Foreign(operation, "the role "+name, owner)
	}
	attached, err := attachedPolicies(ctx, c, name)
	if err != nil {
		return err
	}
	if len(attached) > 0 {
		return fault.Fault{
			Class: fault.Invalid, Service: string(api), Operation: operation, Code: "DeleteConflict",
			Message: "the role " + name + " has managed policies attached that must be detached first: " + strings.Join(attached, ", "),
		}
	}
	// All names before the first deletion: a marker into a list that shrinks would
	// skip some.
	policies, err := policyNames(ctx, c, name)
	if err != nil {
		return err
	}
	for _, policy := range policies {
		_, err := c.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: &policy})
		if err := api.UnlessGone("DeleteRolePolicy", err); err != nil {
			return err
		}
	}
	_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
	return api.Fault(operation, err)
}
