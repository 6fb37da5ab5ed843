package instancetype_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAForgivenFailureIsNotRepeated(t *testing.T) {
	l := newLab(t, "us-west-2")
	who := l.powerless(t)
	question := ask("m5.large", "us-west-2")
	if _, err := l.types.Get(t.Context(), who, question); !cloud.Is(err, fault.Denied) {
		t.Fatalf("without a permission: %v, want denied", err)
	}
	config := must.Get(l.auth.Config(t.Context(), person))(t)
	must.Get(iam.NewFromConfig(config).PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: aws.String("powerless"), PolicyName: aws.String("types"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:DescribeInstanceTypes","Resource":"*"}]}`),
	}))(t)
	if _, err := l.types.Get(t.Context(), who, question); !cloud.Is(err, fault.Denied) {
		t.Errorf("a moment later: %v, want what was remembered", err)
	}
	l.types.Forgive()
	if got, err := l.types.Get(t.Context(), who, question); got != large || err != nil {
		t.Errorf("after it was forgiven: %+v, %v, want %+v", got, err, large)
	}
}
