// Package iamrole reads and changes IAM roles: the one that Tabard's own
// ServiceAccount gets, and the trust of all others.
package iamrole

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// service names IAM in faults.
const service = "IAM"

// What Ensure can have changed.
const (
	ChangedRole   = "role"
	ChangedTrust  = "trust policy"
	ChangedPolicy = "permission policy"
)

// Want is a role as it should be. Both policies are JSON documents.
type Want struct {
	Name string
	// Owner is the value of the ownership tag.
	Owner string
	// Trust is who may become the role.
	Trust string
	// PolicyName and Policy are the one inline policy.
	PolicyName, Policy string
	// Description is set when the role is created, and not afterwards.
	Description string
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
// byte by byte. A role of that name without our tag is a fault Exists and is
// not touched. Inline policies of other names stay.
func (r *Roles) Ensure(ctx context.Context, id identity.Identity, want Want) (arn string, changed []string, err error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return "", nil, faultAt("GetRole", err)
	}
	got, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: &want.Name})
	known := faultAt("GetRole", err)
	switch {
	case cloud.Is(known, fault.Gone):
		if arn, err = create(ctx, c, want); err != nil {
			return "", nil, err
		}
		changed = append(changed, ChangedRole)
	case known != nil:
		return "", nil, known
	case ownerOf(got.Role) != want.Owner:
		return "", nil, foreign("GetRole", want.Name, want.Owner)
	default:
		arn = aws.ToString(got.Role.Arn)
		if !sameDocument(aws.ToString(got.Role.AssumeRolePolicyDocument), want.Trust) {
			if err := setTrust(ctx, c, want); err != nil {
				return arn, nil, err
			}
			changed = append(changed, ChangedTrust)
		}
	}
	put, err := ensurePolicy(ctx, c, want)
	if put {
		changed = append(changed, ChangedPolicy)
	}
	return arn, changed, err
}

func create(ctx context.Context, c client, want Want) (string, error) {
	out, err := c.CreateRole(ctx, &iam.CreateRoleInput{
		RoleName:                 &want.Name,
		AssumeRolePolicyDocument: &want.Trust,
		Description:              optional(want.Description),
		Tags:                     []types.Tag{{Key: aws.String(issuer.OwnerTag), Value: &want.Owner}},
	})
	if err != nil {
		return "", faultAt("CreateRole", err)
	}
	if out.Role == nil {
		return "", fault.Fault{
			Class: fault.Retry, Service: service, Operation: "CreateRole", Message: "IAM answered without the role",
		}
	}
	return aws.ToString(out.Role.Arn), nil
}

func setTrust(ctx context.Context, c client, want Want) error {
	_, err := c.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{
		RoleName: &want.Name, PolicyDocument: &want.Trust,
	})
	return faultAt("UpdateAssumeRolePolicy", err)
}

// ensurePolicy puts the inline policy if it is not there or another one.
func ensurePolicy(ctx context.Context, c client, want Want) (put bool, err error) {
	got, err := c.GetRolePolicy(ctx, &iam.GetRolePolicyInput{RoleName: &want.Name, PolicyName: &want.PolicyName})
	known := faultAt("GetRolePolicy", err)
	if known != nil && !cloud.Is(known, fault.Gone) {
		return false, known
	}
	if known == nil && sameDocument(aws.ToString(got.PolicyDocument), want.Policy) {
		return false, nil
	}
	_, err = c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{
		RoleName: &want.Name, PolicyName: &want.PolicyName, PolicyDocument: &want.Policy,
	})
	return err == nil, faultAt("PutRolePolicy", err)
}

// Delete removes a role that carries our tag, with its inline policies; one
// that is gone is success, one of another owner is a fault Exists. Attached
// managed policies are somebody's doing: IAM refuses, and that is a fault
// Invalid.
func (r *Roles) Delete(ctx context.Context, id identity.Identity, name, owner string) error {
	c, err := r.client(ctx, id)
	if err != nil {
		return faultAt("GetRole", err)
	}
	got, err := c.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return unlessGone("GetRole", err)
	}
	if ownerOf(got.Role) != owner {
		return foreign("DeleteRole", name, owner)
	}
	if err := deletePolicies(ctx, c, name); err != nil {
		return unlessGone("DeleteRolePolicy", err)
	}
	_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
	return unlessGone("DeleteRole", err)
}

// deletePolicies lists first and deletes then: a marker into a list that
// shrinks would skip names.
func deletePolicies(ctx context.Context, c client, role string) error {
	var names []string
	pages := iam.NewListRolePoliciesPaginator(c, &iam.ListRolePoliciesInput{RoleName: &role})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return faultAt("ListRolePolicies", err)
		}
		names = append(names, page.PolicyNames...)
	}
	for _, policy := range names {
		_, err := c.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: &policy})
		if err := unlessGone("DeleteRolePolicy", err); err != nil {
			return err
		}
	}
	return nil
}

// TrustedBy names the roles of the account whose trust policy mentions a
// provider, sorted. It reads every role, page by page.
func (r *Roles) TrustedBy(ctx context.Context, id identity.Identity, providerARN string) ([]string, error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return nil, faultAt("ListRoles", err)
	}
	return trustedBy(ctx, c, providerARN)
}

func trustedBy(ctx context.Context, c client, providerARN string) ([]string, error) {
	var names []string
	pages := iam.NewListRolesPaginator(c, &iam.ListRolesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, faultAt("ListRoles", err)
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

// ownerOf is the value of the ownership tag; a role that IAM did not send has
// none.
func ownerOf(role *types.Role) string {
	if role == nil {
		return ""
	}
	for _, tag := range role.Tags {
		if aws.ToString(tag.Key) == issuer.OwnerTag {
			return aws.ToString(tag.Value)
		}
	}
	return ""
}

func foreign(operation, name, owner string) error {
	return fault.Fault{
		Class: fault.Exists, Service: service, Operation: operation,
		Message: fmt.Sprintf("the role %s is not tagged %s=%s; choose another name, or tag it if it is this issuer's",
			name, issuer.OwnerTag, owner),
	}
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func faultAt(operation string, err error) error { return cloud.Error(service, operation, err) }

// unlessGone is the error's fault, and nil if that is Gone.
func unlessGone(operation string, err error) error {
	if known := faultAt(operation, err); !cloud.Is(known, fault.Gone) {
		return known
	}
	return nil
}
