package hubaccess

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const anybody = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::111111111111:root"}}]}`

// attack has the holder of the program's rights try what they shall not allow.
func attack(t *testing.T, w *world, as aws.Config) {
	t.Helper()
	ctx := t.Context()
	roles, entries := iam.NewFromConfig(as), eks.NewFromConfig(as)
	theirs := hub.RoleName(strings.Repeat("a", 32))
	arn := w.aws.Role(account, theirs, anybody, "")
	w.aws.Role(account, "admin", anybody, "")
	own, other := hub.RoleName(strings.Repeat("b", 32)), "arn:aws:eks:us-west-2:111111111111:cluster/other"
	tag := func(value string) []iamtypes.Tag {
		return []iamtypes.Tag{{Key: aws.String(hub.HubTag), Value: aws.String(value)}}
	}
	create := func(name string, tags []iamtypes.Tag) error {
		_, err := roles.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(anybody), Tags: tags})
		return err
	}
	enter := func(principal string, group string, tags map[string]string) error {
		_, err := entries.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{
			ClusterName: aws.String("eks-hub"), PrincipalArn: &principal, Username: aws.String("x"), KubernetesGroups: []string{group}, Tags: tags,
		})
		return err
	}
	ours := map[string]string{hub.HubTag: hubARN}
	if err := create(own, tag(hubARN)); err != nil {
		t.Fatalf("the program cannot make a role: %v", err)
	}
	for name, try := range map[string]func(context.Context) error{
		"a role of another name":       func(context.Context) error { return create("admin2", tag(hubARN)) },
		"a role without the hub's tag": func(context.Context) error { return create(hub.RoleName("c"), nil) },
		"a role of another hub":        func(context.Context) error { return create(hub.RoleName("c"), tag(other)) },
		"the trust of a role of others": func(ctx context.Context) error {
			_, err := roles.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &theirs, PolicyDocument: aws.String(anybody)})
			return err
		},
		"the end of a role of others": func(ctx context.Context) error {
			_, err := roles.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &theirs})
			return err
		},
		"a policy for its own role": func(ctx context.Context) error {
			_, err := roles.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &own, PolicyName: aws.String("all"), PolicyDocument: aws.String(anybody)})
			return err
		},
		"an entry of administrators": func(context.Context) error {
			return enter("arn:aws:iam::111111111111:role/"+own, "admins", ours)
		},
		"an entry of another role": func(context.Context) error {
			return enter("arn:aws:iam::111111111111:role/admin", "open-cluster-management:x", ours)
		},
		"an entry without the hub's tag": func(context.Context) error { return enter(arn, "open-cluster-management:x", nil) },
		"an access policy": func(ctx context.Context) error {
			_, err := entries.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{ClusterName: aws.String("eks-hub"), PrincipalArn: &arn, PolicyArn: aws.String("arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"), AccessScope: &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster}})
			return err
		},
	} {
		if got := awstest.Refusal(nil, try(ctx)); !strings.HasPrefix(got, "AccessDenied") {
			t.Errorf("%s: AWS answers %q", name, got)
		}
	}
	if err := enter("arn:aws:iam::111111111111:role/"+own, "open-cluster-management:x", ours); err != nil {
		t.Errorf("the program cannot make an entry: %v", err)
	}
}
