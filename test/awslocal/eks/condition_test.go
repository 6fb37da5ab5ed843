package eks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// eksKeys are the condition keys of EKS, and those of tags.
var eksKeys = []string{
	"eks:accessEntryType", "eks:accessScope", "eks:authenticationMode", "eks:bootstrapClusterCreatorAdminPermissions", "eks:clusterName",
	"eks:kubernetesGroups", "eks:namespaces", "eks:policyArn", "eks:principalArn", "eks:username",
	"aws:RequestTag/team", "aws:ResourceTag/team", "aws:TagKeys",
}

// asked is one call, with the keys that it has.
type asked struct {
	operation string
	keys      string
	call      func(context.Context, *eks.Client) error
}

func entered(in eks.CreateAccessEntryInput) func(context.Context, *eks.Client) error {
	return func(ctx context.Context, c *eks.Client) error {
		in.ClusterName, in.PrincipalArn = aws.String(cluster), aws.String(controlRole)
		return awstest.Err(c.CreateAccessEntry(ctx, &in))
	}
}

func altered(in eks.UpdateAccessEntryInput) func(context.Context, *eks.Client) error {
	return func(ctx context.Context, c *eks.Client) error {
		in.ClusterName, in.PrincipalArn = aws.String(cluster), aws.String(appRole)
		return awstest.Err(c.UpdateAccessEntry(ctx, &in))
	}
}

func scoped(scope types.AccessScope) func(context.Context, *eks.Client) error {
	return func(ctx context.Context, c *eks.Client) error {
		return awstest.Err(c.AssociateAccessPolicy(ctx, &eks.AssociateAccessPolicyInput{
			ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole), PolicyArn: aws.String(viewPolicy), AccessScope: &scope,
		}))
	}
}

func founded(access *types.CreateAccessConfigRequest) func(context.Context, *eks.Client) error {
	return func(ctx context.Context, c *eks.Client) error {
		return awstest.Err(c.CreateCluster(ctx, &eks.CreateClusterInput{
			Name: aws.String("new"), RoleArn: aws.String(controlRole), ResourcesVpcConfig: &types.VpcConfigRequest{}, AccessConfig: access,
		}))
	}
}

var team = map[string]string{"team": "a"}

// askedOf are calls that leave out what may be left out, and calls that do not. The cluster has
// no tag, the access entry of appRole the tag of a team.
var askedOf = map[string]asked{
	"an entry of nothing more": {"CreateAccessEntry", "eks:principalArn", entered(eks.CreateAccessEntryInput{})},
	"an entry of no groups":    {"CreateAccessEntry", "eks:principalArn", entered(eks.CreateAccessEntryInput{KubernetesGroups: []string{}})},
	"an entry of nodes":        {"CreateAccessEntry", "eks:accessEntryType eks:principalArn", entered(eks.CreateAccessEntryInput{Type: aws.String("EC2_LINUX")})},
	"an entry of everything": {"CreateAccessEntry", "eks:accessEntryType eks:kubernetesGroups eks:principalArn eks:username aws:RequestTag/team aws:TagKeys",
		entered(eks.CreateAccessEntryInput{Type: aws.String("STANDARD"), Username: aws.String("x"), KubernetesGroups: []string{"g"}, Tags: team})},
	"no change":           {"UpdateAccessEntry", "eks:clusterName eks:principalArn aws:ResourceTag/team", altered(eks.UpdateAccessEntryInput{})},
	"another username":    {"UpdateAccessEntry", "eks:clusterName eks:principalArn eks:username aws:ResourceTag/team", altered(eks.UpdateAccessEntryInput{Username: aws.String("y")})},
	"other groups":        {"UpdateAccessEntry", "eks:clusterName eks:kubernetesGroups eks:principalArn aws:ResourceTag/team", altered(eks.UpdateAccessEntryInput{KubernetesGroups: []string{"h"}})},
	"a policy":            {"AssociateAccessPolicy", "eks:accessScope eks:clusterName eks:policyArn eks:principalArn aws:ResourceTag/team", scoped(types.AccessScope{Type: "cluster"})},
	"a policy somewhere":  {"AssociateAccessPolicy", "eks:accessScope eks:clusterName eks:namespaces eks:policyArn eks:principalArn aws:ResourceTag/team", scoped(types.AccessScope{Type: "namespace", Namespaces: []string{"n"}})},
	"a cluster":           {"CreateCluster", "", founded(nil)},
	"a cluster of a mode": {"CreateCluster", "eks:authenticationMode", founded(&types.CreateAccessConfigRequest{AuthenticationMode: "API"})},
	"a cluster of nobody": {"CreateCluster", "eks:bootstrapClusterCreatorAdminPermissions", founded(&types.CreateAccessConfigRequest{BootstrapClusterCreatorAdminPermissions: aws.Bool(false)})},
	"a look at an entry": {"DescribeAccessEntry", "eks:clusterName eks:principalArn aws:ResourceTag/team", func(ctx context.Context, c *eks.Client) error {
		return awstest.Err(c.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(appRole)}))
	}},
}

// TestConditionKeysAreThoseOfTheRequest: a key that the caller did not send is absent, whatever
// EKS fills in for it (Service Authorization Reference, "Condition keys for Amazon EKS": each is
// "present in the request").
func TestConditionKeysAreThoseOfTheRequest(t *testing.T) {
	l, x := furnished(t)
	l.Must(l.eks().TagResource(t.Context(), &eks.TagResourceInput{ResourceArn: &x.entryARN, Tags: team}))
	client := l.eks(l.user("asks", `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"*","Resource":"*"}}`))
	for name, c := range askedOf {
		var have []string
		for _, key := range eksKeys {
			l.UserPolicy(ours, "asks", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["iam:PassRole","eks:TagResource"],"Resource":"*"},
				{"Effect":"Allow","Action":"eks:`+c.operation+`","Resource":"*","Condition":{"Null":{"`+key+`":"false"}}}]}`)
			if !strings.HasPrefix(awstest.Refusal(nil, c.call(t.Context(), client)), "AccessDenied") {
				have = append(have, key)
			}
		}
		if got := strings.Join(have, " "); got != c.keys {
			t.Errorf("%s: %s has %q, want %q", name, c.operation, got, c.keys)
		}
	}
}
