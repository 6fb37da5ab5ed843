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
	client, url := iam.NewFromConfig(cfg), l.issuer.url()
	provider, err := client.CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{Url: &url, ClientIDList: []string{audience}})
	if err != nil {
		t.Fatal(err)
	}
	trust := l.trust(*provider.OpenIDConnectProviderArn)
	role, err := client.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("app"), AssumeRolePolicyDocument: &trust})
	if err != nil {
		t.Fatal(err)
	}
	token := l.issuer.sign(t, 0, l.issuer.claims())
	session, err := l.anonymous().AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: role.Role.Arn, RoleSessionName: aws.String("one"), WebIdentityToken: &token,
	})
	if err != nil {
		t.Fatal(err)
	}
	policies, err := client.ListPolicies(t.Context(), &iam.ListPoliciesInput{Scope: "AWS"})
	if err != nil {
		t.Fatal(err)
	}
	for _, arn := range []*string{provider.OpenIDConnectProviderArn, role.Role.Arn, session.AssumedRoleUser.Arn, policies.Policies[0].Arn} {
		if !strings.HasPrefix(*arn, "arn:aws-cn:") {
			t.Errorf("%s is not of the partition aws-cn", *arn)
		}
	}
	foreign := "arn:aws:iam::" + account + ":role/app"
	_, err = l.anonymous().AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &foreign, RoleSessionName: aws.String("one"), WebIdentityToken: &token,
	})
	if got, want := refusal(err), "AccessDenied"; !strings.HasPrefix(got, want) {
		t.Errorf("assuming %s: %q, want %s", foreign, got, want)
	}
}

func TestTrustNamesPrincipalsOfItsOwnPartition(t *testing.T) {
	_, cfg := inChina(t)
	trust := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"sts:AssumeRole"}}`
	_, err := iam.NewFromConfig(cfg).CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("app"), AssumeRolePolicyDocument: &trust})
	if got, want := refusal(err), "MalformedPolicyDocument"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestBucketPoliciesNameThePartition(t *testing.T) {
	_, cfg := inChina(t)
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	bucket := aws.String("documents")
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}); err == nil {
		t.Error("a bucket in China was made without naming its region")
	}
	_, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: bucket, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "cn-north-1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for partition, want := range map[string]string{"aws": "MalformedPolicy", "aws-cn": ""} {
		policy := `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":"arn:` + partition + `:s3:::documents/*"}}`
		_, err := client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: bucket, Policy: &policy})
		if got := refusal(err); !strings.HasPrefix(got, want) || want == "" && err != nil {
			t.Errorf("a policy about arn:%s: got %q, want %q", partition, got, want)
		}
	}
}

func TestKeysWorkInTheirOwnPartitionOnly(t *testing.T) {
	_, cfg := inChina(t)
	for region, want := range map[string]string{"cn-northwest-1": "", "us-east-1": "InvalidClientTokenId"} {
		cfg.Region = region
		_, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		if got := refusal(err); !strings.HasPrefix(got, want) || want == "" && err != nil {
			t.Errorf("signed for %s: got %q, want %q", region, got, want)
		}
	}
}
