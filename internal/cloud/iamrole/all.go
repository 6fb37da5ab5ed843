package iamrole

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
)

// fullPage is the most that IAM puts on a page (IAM API: MaxItems).
const fullPage = 1000

// defaultSession is how long sessions of a role may last where it says nothing (IAM
// API: CreateRole).
const defaultSession = time.Hour

// All hands over every role of the account with its policies, one by one, in IAM's
// order, until the function returns an error, which All returns as it is. One page is
// in memory at a time: two calls serve up to 1000 roles.
//
// GetAccountAuthorizationDetails says nothing of the longest session, so ListRoles is
// read before, of which the sessions that are not the default are kept. A role
// that is made or changed in between is handed over with the session that it had.
func (r *Roles) All(ctx context.Context, id identity.Identity, each func(cloud.Role) error) error {
	c, err := r.client(ctx, id)
	if err != nil {
		return api.Fault("ListRoles", err)
	}
	sessions, err := otherSessions(ctx, c)
	if err != nil {
		return err
	}
	pages := iam.NewGetAccountAuthorizationDetailsPaginator(c, &iam.GetAccountAuthorizationDetailsInput{
		Filter: []types.EntityType{types.EntityTypeRole}, MaxItems: aws.Int32(fullPage),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return api.Fault("GetAccountAuthorizationDetails", err)
		}
		for i := range page.RoleDetailList {
			role := detailOf(&page.RoleDetailList[i])
			if longest, other := sessions[role.ARN]; other {
				role.MaxSession = longest
			}
			if err := each(role); err != nil {
				return err
			}
		}
	}
	return nil
}

// otherSessions has the longest session of each role, by ARN, that has not the
// default one.
func otherSessions(ctx context.Context, c client) (map[string]time.Duration, error) {
	sessions := map[string]time.Duration{}
	pages := iam.NewListRolesPaginator(c, &iam.ListRolesInput{MaxItems: aws.Int32(fullPage)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, api.Fault("ListRoles", err)
		}
		for i := range page.Roles {
			if longest := seconds(page.Roles[i].MaxSessionDuration); longest != defaultSession {
				sessions[aws.ToString(page.Roles[i].Arn)] = longest
			}
		}
	}
	return sessions, nil
}

// detailOf is a role as GetAccountAuthorizationDetails tells of it, with the default
// session.
func detailOf(role *types.RoleDetail) cloud.Role {
	seen := cloud.Role{
		Exists: true, Name: aws.ToString(role.RoleName), Path: aws.ToString(role.Path),
		ARN: aws.ToString(role.Arn), AccountID: accountOf(aws.ToString(role.Arn)),
		Trust:      plain(aws.ToString(role.AssumeRolePolicyDocument)),
		MaxSession: defaultSession,
		Tags:       tagsOf(role.Tags),
		Boundary:   boundaryOf(role.PermissionsBoundary),
		Policies:   map[string]string{},
		Attached:   attachedOf(role.AttachedManagedPolicies),
	}
	for _, policy := range role.RolePolicyList {
		seen.Policies[aws.ToString(policy.PolicyName)] = plain(aws.ToString(policy.PolicyDocument))
	}
	return seen
}
