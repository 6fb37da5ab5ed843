package iamrole

import (
	"context"
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

// Get reads a role with all its policies. One that is gone, or goes while it is read,
// is Exists=false. A role with one inline policy costs four calls, an absent one one.
func (r *Roles) Get(ctx context.Context, id identity.Identity, name string) (cloud.Role, error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return cloud.Role{}, api.Fault("GetRole", err)
	}
	seen, err := read(ctx, c, name)
	if cloud.Is(err, fault.Gone) {
		return cloud.Role{}, nil
	}
	return seen, err
}

func read(ctx context.Context, c client, name string) (cloud.Role, error) {
	out, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return cloud.Role{}, api.Fault("GetRole", err)
	}
	if out.Role == nil {
		return cloud.Role{}, withoutRole("GetRole")
	}
	seen := roleOf(out.Role)
	if seen.Policies, err = inlinePolicies(ctx, c, name); err != nil {
		return cloud.Role{}, err
	}
	if seen.Attached, err = attachedPolicies(ctx, c, name); err != nil {
		return cloud.Role{}, err
	}
	return seen, nil
}

// roleOf is a role as GetRole tells of it, without its policies.
func roleOf(role *types.Role) cloud.Role {
	seen := cloud.Role{
		Exists: true, Name: aws.ToString(role.RoleName), Path: aws.ToString(role.Path),
		ARN: aws.ToString(role.Arn), AccountID: accountOf(aws.ToString(role.Arn)),
		Trust:      plain(aws.ToString(role.AssumeRolePolicyDocument)),
		MaxSession: seconds(role.MaxSessionDuration),
		Tags:       tagsOf(role.Tags),
		Boundary:   boundaryOf(role.PermissionsBoundary),
	}
	return seen
}

// InlineNames are the names of a role's inline policies, of a role that is gone none. It costs one call
// for a hundred of them.
func (r *Roles) InlineNames(ctx context.Context, id identity.Identity, role string) ([]string, error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return nil, api.Fault("ListRolePolicies", err)
	}
	names, err := policyNames(ctx, c, role)
	if cloud.Is(err, fault.Gone) {
		return nil, nil
	}
	return names, err
}

// Attached are the ARNs of a role's managed policies, of a role that is gone none. It costs one call for
// a hundred of them.
func (r *Roles) Attached(ctx context.Context, id identity.Identity, role string) ([]string, error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return nil, api.Fault("ListAttachedRolePolicies", err)
	}
	arns, err := attachedPolicies(ctx, c, role)
	if cloud.Is(err, fault.Gone) {
		return nil, nil
	}
	return arns, err
}

// InlinePolicy reads an inline policy as plain JSON, in one call. One that is gone is exists=false.
func (r *Roles) InlinePolicy(ctx context.Context, id identity.Identity, role, name string) (document string, exists bool, err error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return "", false, api.Fault("GetRolePolicy", err)
	}
	return inlinePolicy(ctx, c, role, name)
}

func inlinePolicy(ctx context.Context, c client, role, name string) (document string, exists bool, err error) {
	out, err := c.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &role, PolicyName: &name})
	switch known := api.Fault("GetRolePolicy", err); {
	case cloud.Is(known, fault.Gone):
		return "", false, nil
	case known != nil:
		return "", false, known
	}
	return plain(aws.ToString(out.PolicyDocument)), true, nil
}

// inlinePolicies reads all inline policies of a role. One that goes after it was
// listed is not there.
func inlinePolicies(ctx context.Context, c client, role string) (map[string]string, error) {
	names, err := policyNames(ctx, c, role)
	if err != nil {
		return nil, err
	}
	policies := map[string]string{}
	for _, name := range names {
		document, exists, err := inlinePolicy(ctx, c, role, name)
		if err != nil {
			return nil, err
		}
		if exists {
			policies[name] = document
		}
	}
	return policies, nil
}

func policyNames(ctx context.Context, c client, role string) ([]string, error) {
	var names []string
	pages := iam.NewListRolePoliciesPaginator(c, &iam.ListRolePoliciesInput{RoleName: &role})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, api.Fault("ListRolePolicies", err)
		}
		names = append(names, page.PolicyNames...)
	}
	return names, nil
}

func attachedPolicies(ctx context.Context, c client, role string) ([]string, error) {
	var arns []string
	pages := iam.NewListAttachedRolePoliciesPaginator(c, &iam.ListAttachedRolePoliciesInput{RoleName: &role})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, api.Fault("ListAttachedRolePolicies", err)
		}
		arns = append(arns, attachedOf(page.AttachedPolicies)...)
	}
	slices.Sort(arns)
	return arns, nil
}

func attachedOf(policies []types.AttachedPolicy) []string {
	var arns []string
	for _, policy := range policies {
		arns = append(arns, aws.ToString(policy.PolicyArn))
	}
	slices.Sort(arns)
	return arns
}

func tagsOf(list []types.Tag) map[string]string {
	tags := map[string]string{}
	for _, tag := range list {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return tags
}

// accountOf is the account in an ARN, empty where there is none.
func accountOf(arn string) string {
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		return parts[4]
	}
	return ""
}

func seconds(n *int32) time.Duration { return time.Duration(aws.ToInt32(n)) * time.Second }

// withoutRole is the fault of an answer that lacks what it is about.
func withoutRole(operation string) error {
	return fault.Fault{
		Class: fault.Retry, Service: string(api), Operation: operation, Message: "IAM answered without the role",
	}
}
