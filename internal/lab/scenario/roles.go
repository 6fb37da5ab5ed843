package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/lab"
)

// bucket is what the workload's role may read of; it need not be there.
const bucket = "scenario-shop"

// trust is the trust policy by which the workload becomes its role.
func (s *shop) trust(audience string) string {
	return iampolicy.Document{iampolicy.WebIdentity(s.provider, audience, "system:serviceaccount:"+Namespace+":"+Workload)}.String()
}

// roles makes the roles of the workload and of its node.
func (s *shop) roles(ctx context.Context) error {
	allow := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:ListBucket","Resource":"arn:aws:s3:::%s"}]}`, bucket)
	node := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com","AWS":"arn:aws:iam::%s:root"},"Action":"sts:AssumeRole"}]}`, lab.AccountID)
	for name, trust := range map[string]string{RoleName: s.trust(audience), NodeRoleName: node} {
		if err := s.deleteRole(ctx, name); err != nil {
			return err
		}
		if _, err := s.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust}); err != nil {
			return err
		}
	}
	_, err := s.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String(RoleName), PolicyName: aws.String("own"), PolicyDocument: &allow})
	return err
}

// setTrust writes the workload's trust policy.
func (s *shop) setTrust(ctx context.Context, document string) error {
	_, err := s.iam.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String(RoleName), PolicyDocument: &document})
	return err
}

// deleteRole deletes a role that a scenario, or a command that mends one, has made.
func (s *shop) deleteRole(ctx context.Context, name string) error {
	policies, err := s.iam.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &name})
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, policy := range policies.PolicyNames {
		if _, err := s.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &name, PolicyName: &policy}); err != nil {
			return err
		}
	}
	_, err = s.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
	return err
}

func isAbsent(err error) bool {
	_, absent := errors.AsType[*types.NoSuchEntityException](err)
	return absent
}
