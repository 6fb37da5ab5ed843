package s3_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// commandAt runs the aws command line as the administrator, at an endpoint,
// through a proxy if that is not empty.
func commandAt(server *awstest.Lab, endpoint, proxy string, args ...string) (stdout, stderr string, err error) {
	return server.CommandLine(server.Administrator(ours), []string{
		"AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1", "AWS_MAX_ATTEMPTS=1", "AWS_EC2_METADATA_DISABLED=true", "HTTP_PROXY=" + proxy, "NO_PROXY=",
	}, append(args, "--endpoint-url", endpoint)...)
}

// TestCommandLine walks through the operations of S3 as a person would type
// them; each line must print what is wanted, or fail with it.
func TestCommandLine(t *testing.T) {
	server := start(t)
	file := filepath.Join(t.TempDir(), "file.txt")
	if err := os.WriteFile(file, []byte("hello from the command line"), 0o600); err != nil {
		t.Fatalf("write: %v", err)
	}
	const open = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/open"}]}`
	for _, step := range []struct {
		args []string
		want string
		fail bool
	}{
		{args: []string{"s3", "mb", "s3://docs"}, want: "make_bucket: docs"},
		{args: []string{"s3api", "head-bucket", "--bucket", "docs"}, want: `"BucketRegion": "us-east-1"`},
		{args: []string{"s3api", "get-public-access-block", "--bucket", "docs"}, want: `"RestrictPublicBuckets": true`},
		{args: []string{"s3api", "put-bucket-policy", "--bucket", "docs", "--policy", open}, want: "BlockPublicPolicy", fail: true},
		{args: []string{"s3api", "delete-public-access-block", "--bucket", "docs"}},
		{args: []string{"s3api", "put-bucket-policy", "--bucket", "docs", "--policy", open}},
		{args: []string{"s3api", "get-bucket-policy-status", "--bucket", "docs"}, want: `"IsPublic": true`},
		{args: []string{"s3api", "put-bucket-tagging", "--bucket", "docs", "--tagging", "TagSet=[{Key=team,Value=blue}]"}},
		{args: []string{"s3api", "get-bucket-tagging", "--bucket", "docs"}, want: `"Value": "blue"`},
		{args: []string{"s3", "cp", file, "s3://docs/dir/a b+é"}, want: "upload:"},
		{args: []string{"s3", "ls", "s3://docs/dir/"}, want: "a b+é"},
		{args: []string{"s3", "cp", "s3://docs/dir/a b+é", "-"}, want: "hello from the command line"},
		{args: []string{"s3", "cp", "s3://docs/dir/a b+é", "s3://docs/copy"}, want: "copy:"},
		{args: []string{"s3api", "put-object-tagging", "--bucket", "docs", "--key", "copy", "--tagging", "TagSet=[{Key=team,Value=blue}]"}},
		{args: []string{"s3api", "get-object-tagging", "--bucket", "docs", "--key", "copy"}, want: `"Value": "blue"`},
		{args: []string{"s3", "mv", "s3://docs/copy", "s3://docs/moved"}, want: "move:"},
		{args: []string{"s3api", "head-object", "--bucket", "docs", "--key", "copy"}, want: "404", fail: true},
		{args: []string{"s3", "sync", filepath.Dir(file), "s3://docs/synced"}, want: "upload:"},
		{args: []string{"s3api", "list-objects", "--bucket", "docs", "--prefix", "synced/"}, want: `"Key": "synced/file.txt"`},
		{args: []string{"s3api", "create-multipart-upload", "--bucket", "docs", "--key", "large"}, want: "NotImplemented", fail: true},
		{args: []string{"s3api", "put-object", "--bucket", "docs", "--key", "dir/a b+é", "--body", file, "--if-none-match", "*"}, want: "PreconditionFailed", fail: true},
		{args: []string{"s3api", "head-object", "--bucket", "docs", "--key", "dir/a b+é", "--expected-bucket-owner", theirs}, want: "403", fail: true},
		{args: []string{"s3api", "get-object", "--bucket", "docs", "--key", "none", file + ".got"}, want: "NoSuchKey", fail: true},
		{args: []string{"s3api", "delete-bucket", "--bucket", "docs"}, want: "BucketNotEmpty", fail: true},
		{args: []string{"s3", "rb", "--force", "s3://docs"}, want: "remove_bucket: docs"},
	} {
		stdout, stderr, err := commandAt(server, server.URL(), "", step.args...)
		if (err != nil) != step.fail {
			t.Fatalf("aws %s: %v\n%s%s", strings.Join(step.args, " "), err, stdout, stderr)
		}
		if printed := stdout + stderr; !strings.Contains(printed, step.want) {
			t.Errorf("aws %s printed\n%s\nwant %q in it", strings.Join(step.args, " "), printed, step.want)
		}
	}
}

// TestCommandLineBlocksAnAccount asks S3 Control. The client puts the account
// before the endpoint's host, a name that nobody resolves here: the server is
// its proxy.
func TestCommandLineBlocksAnAccount(t *testing.T) {
	server := start(t)
	for _, step := range []struct{ operation, want string }{
		{"get-public-access-block", "NoSuchPublicAccessBlockConfiguration"},
		{"put-public-access-block --public-access-block-configuration BlockPublicPolicy=true", ""},
		{"get-public-access-block", `"BlockPublicPolicy": true`},
		{"delete-public-access-block", ""},
		{"get-public-access-block", "NoSuchPublicAccessBlockConfiguration"},
		{"list-access-points", "NotImplemented"},
	} {
		args := append([]string{"s3control"}, strings.Fields(step.operation+" --account-id "+ours)...)
		stdout, stderr, err := commandAt(server, "http://awslocal.test", server.PlainURL(), args...)
		if printed := stdout + stderr; !strings.Contains(printed, step.want) || step.want == "" && err != nil {
			t.Errorf("aws %s printed\n%s\nwant %q in it", strings.Join(args, " "), printed, step.want)
		}
	}
}
