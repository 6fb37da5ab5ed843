package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// path is that of all roles which controllers may assume for teams.
const path = "/ack/"

// workload is the controller, as AWS knows it.
type workload struct{ issuer, namespace, serviceAccount, role string }

// makeRole makes the controller's own role. It trusts the tokens of one
// ServiceAccount, and may become a role of a team in any account; nothing else, so
// that what no selector is for ends in a refusal of AWS, too.
func (w workload) makeRole(ctx context.Context, cfg aws.Config, account string) (string, error) {
	issuer := strings.TrimPrefix(w.issuer, "https://")
	return makeRole(ctx, cfg, &iam.CreateRoleInput{RoleName: &w.role}, map[string]any{
		"Effect":    "Allow",
		"Principal": map[string]string{"Federated": "arn:aws:iam::" + account + ":oidc-provider/" + issuer},
		"Action":    "sts:AssumeRoleWithWebIdentity",
		"Condition": map[string]any{"StringEquals": map[string]string{
			issuer + ":sub": "system:serviceaccount:" + w.namespace + ":" + w.serviceAccount,
			issuer + ":aud": "sts.amazonaws.com",
		}},
	}, map[string]any{
		"Effect":   "Allow",
		"Action":   []string{"sts:AssumeRole", "sts:TagSession"},
		"Resource": "arn:aws:iam::*:role" + path + "*",
	})
}

// team is what a team lets the controller do in its account.
type team struct{ controller, role, buckets string }

// makeRole makes the role that the controller assumes for a team. It may look
// after buckets whose names begin as the team's do.
func (t team) makeRole(ctx context.Context, cfg aws.Config) (string, error) {
	return makeRole(ctx, cfg, &iam.CreateRoleInput{RoleName: &t.role, Path: aws.String(path)}, map[string]any{
		"Effect":    "Allow",
		"Principal": map[string]string{"AWS": t.controller},
		"Action":    "sts:AssumeRole",
	}, map[string]any{
		"Effect":   "Allow",
		"Action":   []string{"s3:CreateBucket", "s3:DeleteBucket", "s3:GetBucketTagging", "s3:ListBucket", "s3:PutBucketTagging"},
		"Resource": "arn:aws:s3:::" + t.buckets + "*",
	})
}

// makeRole makes a role that trusts, and may do, what two statements say.
func makeRole(ctx context.Context, cfg aws.Config, role *iam.CreateRoleInput, trust, rights map[string]any) (string, error) {
	trusts, err := policy(trust)
	if err != nil {
		return "", err
	}
	mayDo, err := policy(rights)
	if err != nil {
		return "", err
	}
	client := iam.NewFromConfig(cfg)
	role.AssumeRolePolicyDocument = trusts
	made, err := client.CreateRole(ctx, role)
	if err != nil {
		return "", err
	}
	_, err = client.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: role.RoleName, PolicyName: aws.String("rights"), PolicyDocument: mayDo})
	return aws.ToString(made.Role.Arn), err
}

func policy(statement map[string]any) (*string, error) {
	text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{statement}})
	return aws.String(string(text)), err
}
