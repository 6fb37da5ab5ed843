package onlab

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// PolicyName is the name of the policy of the roles that CreateRole makes.
const PolicyName = "own"

// audience is whom the tokens of pods are for.
const audience = "sts.amazonaws.com"

// Account is the AWS account of the lab.
func (lab *Lab) Account(ctx context.Context) (string, error) {
	config, err := lab.Config(lab.Administrator())
	if err != nil {
		return "", err
	}
	caller, err := sts.NewFromConfig(config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	return aws.ToString(caller.Account), nil
}

// IssuerPath is the issuer without its scheme, as IAM names it.
func (lab *Lab) IssuerPath() string {
	return strings.TrimPrefix(lab.Env["TABARD_ISSUER_URL"], "https://")
}

// ProviderARN is the ARN of the lab's OIDC provider in an account.
func (lab *Lab) ProviderARN(account string) string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + lab.IssuerPath()
}

// Trust lets a ServiceAccount of the lab's cluster become a role of an account.
func (lab *Lab) Trust(account, namespace, serviceAccount string) map[string]any {
	return map[string]any{
		"Effect":    "Allow",
		"Principal": map[string]string{"Federated": lab.ProviderARN(account)},
		"Action":    "sts:AssumeRoleWithWebIdentity",
		"Condition": map[string]any{"StringEquals": map[string]string{
			lab.IssuerPath() + ":sub": "system:serviceaccount:" + namespace + ":" + serviceAccount,
			lab.IssuerPath() + ":aud": audience,
		}},
	}
}

// Document is a policy of one statement.
func Document(statement any) (string, error) {
	text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{statement}})
	return string(text), err
}

// CreateRole makes a role with one permission and returns its ARN.
func (lab *Lab) CreateRole(ctx context.Context, name string, trust, permission map[string]any) (string, error) {
	config, err := lab.Config(lab.Administrator())
	if err != nil {
		return "", err
	}
	trusted, err := Document(trust)
	if err != nil {
		return "", err
	}
	allowed, err := Document(permission)
	if err != nil {
		return "", err
	}
	client := iam.NewFromConfig(config)
	created, err := client.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trusted})
	if err != nil {
		return "", err
	}
	_, err = client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String(PolicyName), PolicyDocument: &allowed})
	return aws.ToString(created.Role.Arn), err
}

// CreateBucket makes a bucket in the lab's region.
func (lab *Lab) CreateBucket(ctx context.Context, name string) error {
	config, err := lab.Config(lab.Administrator())
	if err != nil {
		return err
	}
	_, err = s3.NewFromConfig(config).CreateBucket(ctx, &s3.CreateBucketInput{
		Bucket: &name,
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
			LocationConstraint: s3types.BucketLocationConstraint(config.Region),
		},
	})
	return err
}

// Call is one line of the local AWS's journal.
type Call struct {
	// Time is by the local AWS's clock.
	Time      time.Time `json:"time"`
	Operation string    `json:"operation"`
	Caller    string    `json:"caller"`
	// AccessKeyID is the key that signed; a session has one of its own.
	AccessKeyID string `json:"accessKeyID"`
	Resource    string `json:"resource"`
	Status      int    `json:"status"`
	Error       string `json:"error"`
}

// Journal is every call of the local AWS.
func (lab *Lab) Journal(ctx context.Context) (calls []Call, err error) {
	return calls, lab.Control(ctx, "GET", "journal", nil, &calls)
}
