package awslocal_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// inChina is the local AWS in a partition other than "aws".
func inChina(t *testing.T) (*lab, aws.Config) {
	l := newLab(t, func(o *awslocal.Options) { o.Region = "cn-north-1" })
	cfg := l.administrator(account)
	cfg.Region = "cn-north-1"
	return l, cfg
}

func TestARNsNameThePartition(t *testing.T) {
	l, cfg := inChina(t)
	client, url := iam.NewFromConfig(cfg), l.issuer.Issuer()
	provider := must.Get(client.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: &url, ClientIDList: []string{audience}}))(t)
	trust := l.trust(*provider.OpenIDConnectProviderArn)
	role := must.Get(client.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("app"), AssumeRolePolicyDocument: &trust}))(t)
	token := l.sign(0, l.claims())
	session := must.Get(l.anonymous().AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: role.Role.Arn, RoleSessionName: aws.String("one"), WebIdentityToken: &token,
	}))(t)
	policies := must.Get(client.ListPolicies(t.Context(), &iam.ListPoliciesInput{Scope: "AWS"}))(t)
	for _, arn := range []*string{provider.OpenIDConnectProviderArn, role.Role.Arn, session.AssumedRoleUser.Arn, policies.Policies[0].Arn} {
		if !strings.HasPrefix(*arn, "arn:aws-cn:") {
			t.Errorf("%s is not of the partition aws-cn", *arn)
		}
	}
	foreign := "arn:aws:iam::" + account + ":role/app"
	if got, want := awstest.Refusal(l.anonymous().AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &foreign, RoleSessionName: aws.String("one"), WebIdentityToken: &token,
	})), "AccessDenied"; !strings.HasPrefix(got, want) {
		t.Errorf("assuming %s: %q, want %s", foreign, got, want)
	}
}

func TestTrustNamesPrincipalsOfItsOwnPartition(t *testing.T) {
	_, cfg := inChina(t)
	trust := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"sts:AssumeRole"}}`
	if got, want := awstest.Refusal(iam.NewFromConfig(cfg).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: aws.String("app"), AssumeRolePolicyDocument: &trust,
	})), "MalformedPolicyDocument"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestBucketPoliciesNameThePartition(t *testing.T) {
	l, cfg := inChina(t)
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := aws.String("documents")
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}); err == nil {
		t.Error("a bucket in China was made without naming its region")
	}
	l.Must(client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: bucket, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "cn-north-1"},
	}))
	for partition, want := range map[string]string{"aws": "MalformedPolicy", "aws-cn": ""} {
		policy := `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":"arn:` + partition + `:s3:::documents/*"}}`
		if got := awstest.Refusal(client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{
			Bucket: bucket, Policy: &policy,
		})); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("a policy about arn:%s: got %q, want %q", partition, got, want)
		}
	}
}

func TestKeysWorkInTheirOwnPartitionOnly(t *testing.T) {
	_, cfg := inChina(t)
	for region, want := range map[string]string{"cn-northwest-1": "", "us-east-1": "InvalidClientTokenId"} {
		cfg.Region = region
		_, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), nil)
		if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("signed for %s: got %q, want %q", region, got, want)
		}
	}
}
