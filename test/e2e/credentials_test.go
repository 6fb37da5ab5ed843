package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tabard-dev/tabard/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.RunAsProgram(m, standInForAWS)) }

// standInForAWS does with the SDK what docs/credentials.md has the aws command line do,
// which not every machine has. make conformance types the page with the real one.
func standInForAWS(args []string) error {
	ctx := context.Background() //nolint:forbidigo // this is a program, and ends by itself
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(awshttp.NewBuildableClient()))
	if err != nil {
		return err
	}
	switch line := strings.Join(args, " "); {
	case strings.HasPrefix(line, "s3 mb s3://") && len(args) == 3:
		_, err = s3.NewFromConfig(cfg).CreateBucket(ctx, &s3.CreateBucketInput{
			Bucket:                    aws.String(strings.TrimPrefix(args[2], "s3://")),
			CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: s3types.BucketLocationConstraint(cfg.Region)},
		})
		return err
	case strings.HasPrefix(line, "s3 rb s3://") && len(args) == 4 && args[3] == "--force":
		return emptyAndDelete(ctx, s3.NewFromConfig(cfg), strings.TrimPrefix(args[2], "s3://"))
	case strings.HasPrefix(line, "iam list-roles "):
		for pages := iam.NewListRolesPaginator(iam.NewFromConfig(cfg), &iam.ListRolesInput{}); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, role := range page.Roles {
				if _, err := fmt.Fprintln(os.Stdout, aws.ToString(role.RoleName)); err != nil {
					return err
				}
			}
		}
		return nil
	case strings.HasPrefix(line, "iam list-policies --scope Local "):
		for pages := iam.NewListPoliciesPaginator(iam.NewFromConfig(cfg), &iam.ListPoliciesInput{Scope: iamtypes.PolicyScopeTypeLocal}); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, policy := range page.Policies {
				if _, err := fmt.Fprintln(os.Stdout, aws.ToString(policy.PolicyName)); err != nil {
					return err
				}
			}
		}
		return nil
	case strings.HasPrefix(line, "iam put-role-policy ") && len(args) == 8:
		value := func(flag string) *string { return &args[slices.Index(args, flag)+1] }
		_, err = iam.NewFromConfig(cfg).PutRolePolicy(ctx, &iam.PutRolePolicyInput{
			RoleName: value("--role-name"), PolicyName: value("--policy-name"), PolicyDocument: value("--policy-document"),
		})
		return err
	}
	return fmt.Errorf("the stand-in for aws does not know %q", args)
}

func emptyAndDelete(ctx context.Context, client *s3.Client, bucket string) error {
	for pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, object := range page.Contents {
			if _, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: object.Key}); err != nil {
				return err
			}
		}
	}
	_, err := client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &bucket})
	return err
}

// listing tells what a request could leave behind.
const listing = `echo "--- what there is"
aws iam list-roles --query 'Roles[].[RoleName]' --output text
aws iam list-policies --scope Local --query 'Policies[].[PolicyName]' --output text
kubectl get credentialsgrants -o name
kubectl get serviceaccounts -A -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.metadata.annotations}{"\n"}{end}' | grep -v reports/default
echo "--- end"
`

// TestCredentialsPage types docs/credentials.md after the quickstart's first five steps, and
// sees that nothing is left of what it made but what it started from.
func TestCredentialsPage(t *testing.T) {
	testkit.LinkSelf(t, "aws")
	typeCredentialsPage(t)
}

// TestCommandLineCredentialsPage is the same with the real aws.
func TestCommandLineCredentialsPage(t *testing.T) { typeCredentialsPage(t) }

func typeCredentialsPage(t *testing.T) {
	t.Helper()
	quickstart, _, _ := strings.Cut(readPage(t, "quickstart.md"), "\n## 6. ")
	page := readPage(t, "credentials.md")
	story, _, found := strings.Cut(page, "\n## Which boundary is a request's")
	if !found {
		t.Fatal("docs/credentials.md has no part on boundaries")
	}
	said := newReader(t).follow(quickstart + "\n```sh\n" + listing + "```\n" + story + story + "\n```sh\n" + listing + "```\n")
	for _, want := range []string{
		"assumed-role/lab-writer-", "is not authorized to perform: s3:PutObject", "inline policy everything was added", "BeyondCeiling",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page's commands do not print %q", want)
		}
	}
	parts := strings.Split(said, "--- what there is\n")
	if len(parts) != 3 {
		t.Fatalf("there are %d listings, want 2", len(parts)-1)
	}
	before, _, _ := strings.Cut(parts[1], "--- end\n")
	after, _, _ := strings.Cut(parts[2], "--- end\n")
	for line := range strings.Lines(after) {
		if made := strings.Contains(line, "tabard-credentials") || strings.Contains(line, "tabard-boundary"); !made && !strings.Contains(before, line) {
			t.Errorf("left behind: %s", line)
		}
	}
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			t.Errorf("gone: %s", line)
		}
	}
}
