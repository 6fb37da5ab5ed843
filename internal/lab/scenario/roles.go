package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/lab"
)

// bucket and object are what the workload's role may read. One scenario makes them.
const (
	bucket = "scenario-shop"
	object = "orders/today.csv"
)

// allowing is a policy that allows a call.
func allowing(action, resource string) string {
	return iampolicy.Document{{Actions: []string{action}, Resources: []string{resource}}}.String()
}

// trust is the trust policy by which the workload becomes its role.
func (s *shop) trust(audience string) string {
	return iampolicy.Document{iampolicy.WebIdentity(s.provider, audience, "system:serviceaccount:"+Namespace+":"+Workload)}.String()
}

// roles makes the roles of the workload and of its node.
func (s *shop) roles(ctx context.Context) error {
	node := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com","AWS":"arn:aws:iam::%s:root"},"Action":"sts:AssumeRole"}]}`, lab.AccountID)
	for name, trust := range map[string]string{RoleName: s.trust(audience), NodeRoleName: node} {
		if err := s.deleteRole(ctx, name); err != nil {
			return err
		}
		if _, err := s.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust}); err != nil {
			return err
		}
	}
	return s.setPolicy(ctx, allowing("s3:GetObject", "arn:aws:s3:::"+bucket+"/*"))
}

// setPolicy writes what the workload's role may do.
func (s *shop) setPolicy(ctx context.Context, document string) error {
	_, err := s.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String(RoleName), PolicyName: aws.String("own"), PolicyDocument: &document})
	return err
}

// bucket makes the bucket with the object.
func (s *shop) bucket(ctx context.Context) error {
	_, err := s.s3.CreateBucket(ctx, &s3.CreateBucketInput{
		Bucket: aws.String(bucket), CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: lab.Region},
	})
	if _, is := errors.AsType[*s3types.BucketAlreadyOwnedByYou](err); err != nil && !is {
		return err
	}
	_, err = s.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(object), Body: strings.NewReader("order,item\n")})
	return err
}

// deleteBucket deletes both.
func (s *shop) deleteBucket(ctx context.Context) error {
	_, err := s.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String(object)})
	if err == nil {
		_, err = s.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: aws.String(bucket)})
	}
	if api, is := errors.AsType[smithy.APIError](err); is && api.ErrorCode() == "NoSuchBucket" {
		return nil
	}
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
	attached, err := s.iam.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: &name})
	if err != nil {
		return err
	}
	for _, policy := range attached.AttachedPolicies {
		if _, err := s.iam.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: policy.PolicyArn}); err != nil {
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
