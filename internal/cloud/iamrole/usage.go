package iamrole

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

const getAccountSummary = "GetAccountSummary"

// Usage is how many roles the account has and may have (IAM API: GetAccountSummary).
func (r *Roles) Usage(ctx context.Context, id identity.Identity) (cloud.RoleUsage, error) {
	c, err := r.client(ctx, id)
	if err != nil {
		return cloud.RoleUsage{}, api.Fault(getAccountSummary, err)
	}
	summary, err := c.GetAccountSummary(ctx, &iam.GetAccountSummaryInput{})
	if err != nil {
		return cloud.RoleUsage{}, api.Fault(getAccountSummary, err)
	}
	return usageOf(summary.SummaryMap)
}

// usageOf takes no number for zero that the answer does not have.
func usageOf(summary map[string]int32) (cloud.RoleUsage, error) {
	roles, has := summary[string(types.SummaryKeyTypeRoles)]
	quota, limited := summary[string(types.SummaryKeyTypeRolesQuota)]
	if !has || !limited {
		return cloud.RoleUsage{}, fault.Fault{
			Class: fault.Invalid, Service: string(api), Operation: getAccountSummary,
			Message: fmt.Sprintf("the answer has %d numbers, and not both of Roles and RolesQuota", len(summary)),
		}
	}
	return cloud.RoleUsage{Roles: int(roles), Quota: int(quota)}, nil
}
