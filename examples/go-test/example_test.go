// Package gotest shows the local AWS in a Go test: a ServiceAccount's token becomes a
// session of a role, and another ServiceAccount's does not.
package gotest

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awslocal"
)

// start runs a local AWS with an issuer of ServiceAccount tokens, and returns an SDK
// configuration with the keys of the account's administrator.
func start() (*awslocal.Server, *awslocal.Issuer, aws.Config) {
	server := must(awslocal.New(awslocal.Options{}))
	check(server.Start("127.0.0.1:0"))
	issuer := must(server.StartIssuer())
	key := server.Administrator(awslocal.DefaultAccount)
	return server, issuer, aws.Config{
		Region: awslocal.DefaultRegion, BaseEndpoint: aws.String(server.URL()), HTTPClient: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	}
}

// createRole registers the issuer, and makes a role for one ServiceAccount of it.
func createRole(ctx context.Context, cfg aws.Config, issuer *awslocal.Issuer, subject string) (arn string) {
	client := iam.NewFromConfig(cfg)
	provider := must(client.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(issuer.URL()), ClientIDList: []string{"sts.amazonaws.com"},
	}))
	host := strings.TrimPrefix(issuer.URL(), "https://")
	trust := fmt.Sprintf(`{"Version": "2012-10-17", "Statement": [{
		"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": %q},
		"Condition": {"StringEquals": {"%s:sub": %q, "%s:aud": "sts.amazonaws.com"}}
	}]}`, *provider.OpenIDConnectProviderArn, host, subject, host)
	role := must(client.CreateRole(ctx, &iam.CreateRoleInput{
		RoleName: aws.String("reports"), AssumeRolePolicyDocument: &trust,
	}))
	return *role.Role.Arn
}

// token is what the kubelet would mount: your test gives it to the code under test.
type token string

// GetIdentityToken makes it an stscreds.IdentityTokenRetriever.
func (t token) GetIdentityToken() ([]byte, error) { return []byte(t), nil }

func Example() {
	ctx := context.Background()
	server, issuer, cfg := start()
	defer func() { check(server.Close(ctx)) }()
	role := createRole(ctx, cfg, issuer, "system:serviceaccount:shop:reports")

	for _, name := range []string{"reports", "web"} {
		pod := cfg.Copy()
		pod.Credentials = stscreds.NewWebIdentityRoleProvider(sts.NewFromConfig(cfg), role,
			token(must(issuer.Token("shop", name, "sts.amazonaws.com"))),
			func(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName = "test" })
		who, err := sts.NewFromConfig(pod).GetCallerIdentity(ctx, nil)
		if err != nil {
			journal := server.Admin().Journal()
			refused := journal[len(journal)-1]
			fmt.Println(name, "is refused:", refused.Error, "for", refused.WebIdentity.Subject)
			fmt.Println("the policy that decided is of kind", refused.Decision.Kind, "of", refused.Decision.Policy)
			continue
		}
		fmt.Println(name, "is", *who.Arn)
	}
	// Output:
	// reports is arn:aws:sts::123456789012:assumed-role/reports/test
	// web is refused: AccessDenied for system:serviceaccount:shop:web
	// the policy that decided is of kind trust of arn:aws:iam::123456789012:role/reports
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
