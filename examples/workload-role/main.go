// Command workload-role does what an AWS administrator does for one workload,
// with the official AWS SDK and nothing of Tabard: it makes an IAM role that
// trusts exactly one ServiceAccount's tokens, lets the role use one prefix of
// one bucket, makes the bucket, and prints the role's ARN.
//
//	workload-role -issuer URL -namespace NS -service-account SA -role NAME -bucket BUCKET -prefix PREFIX
//
// It runs with the AWS session that the SDK finds. In a real account this is
// the part that Terraform, CloudFormation or a person does.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// workload is who is to have which role for what.
type workload struct {
	issuer, namespace, serviceAccount string
	role, bucket, prefix              string
}

func main() {
	var w workload
	flag.StringVar(&w.issuer, "issuer", "", "URL of the cluster's token issuer")
	flag.StringVar(&w.namespace, "namespace", "", "namespace of the ServiceAccount")
	flag.StringVar(&w.serviceAccount, "service-account", "", "ServiceAccount that may become the role")
	flag.StringVar(&w.role, "role", "", "name of the role to make")
	flag.StringVar(&w.bucket, "bucket", "", "bucket to make")
	flag.StringVar(&w.prefix, "prefix", "", "prefix in the bucket that the role may read and write")
	flag.Parse()
	if err := w.create(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "workload-role:", err)
		os.Exit(1)
	}
}

func (w workload) create(ctx context.Context, stdout io.Writer) error {
	for name, value := range map[string]string{
		"issuer": w.issuer, "namespace": w.namespace, "service-account": w.serviceAccount,
		"role": w.role, "bucket": w.bucket, "prefix": w.prefix,
	} {
		if value == "" {
			return fmt.Errorf("-%s is missing", name)
		}
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	arn, err := w.createRole(ctx, cfg)
	if err != nil {
		return err
	}
	if err := w.createBucket(ctx, cfg); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, arn)
	return err
}

func (w workload) createRole(ctx context.Context, cfg aws.Config) (string, error) {
	caller, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	trust, err := json.Marshal(w.trustPolicy(aws.ToString(caller.Account)))
	if err != nil {
		return "", err
	}
	permissions, err := json.Marshal(w.permissionPolicy())
	if err != nil {
		return "", err
	}
	client := iam.NewFromConfig(cfg)
	created, err := client.CreateRole(ctx, &iam.CreateRoleInput{
		RoleName: &w.role, AssumeRolePolicyDocument: aws.String(string(trust)),
	})
	if err != nil {
		return "", err
	}
	_, err = client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{
		RoleName: &w.role, PolicyName: aws.String("bucket-prefix"), PolicyDocument: aws.String(string(permissions)),
	})
	return aws.ToString(created.Role.Arn), err
}

func (w workload) createBucket(ctx context.Context, cfg aws.Config) error {
	input := &s3.CreateBucketInput{Bucket: &w.bucket}
	if cfg.Region != "us-east-1" { // the one region that must not be named
		input.CreateBucketConfiguration = &s3types.CreateBucketConfiguration{
			LocationConstraint: s3types.BucketLocationConstraint(cfg.Region),
		}
	}
	_, err := s3.NewFromConfig(cfg).CreateBucket(ctx, input)
	return err
}

// trustPolicy admits tokens of the issuer whose subject is the ServiceAccount
// and whose audience is STS. Both conditions matter: without the subject every
// pod of the cluster could become the role.
func (w workload) trustPolicy(account string) map[string]any {
	path := strings.TrimPrefix(w.issuer, "https://")
	return policy(map[string]any{
		"Effect":    "Allow",
		"Principal": map[string]string{"Federated": "arn:aws:iam::" + account + ":oidc-provider/" + path},
		"Action":    "sts:AssumeRoleWithWebIdentity",
		"Condition": map[string]any{"StringEquals": map[string]string{
			path + ":sub": "system:serviceaccount:" + w.namespace + ":" + w.serviceAccount,
			path + ":aud": "sts.amazonaws.com",
		}},
	})
}

func (w workload) permissionPolicy() map[string]any {
	return policy(map[string]any{
		"Effect":   "Allow",
		"Action":   []string{"s3:GetObject", "s3:PutObject"},
		"Resource": "arn:aws:s3:::" + w.bucket + "/" + w.prefix + "/*",
	})
}

func policy(statement map[string]any) map[string]any {
	return map[string]any{"Version": "2012-10-17", "Statement": []any{statement}}
}
