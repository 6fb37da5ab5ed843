package s3_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// signed sends a request that the SDK's signer signed for S3 in us-east-1, and
// returns the answer's status and body.
func signed(t *testing.T, server *awstest.Lab, method, url, account, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	server.Must(r, err)
	r.Header.Set("X-Amz-Content-Sha256", awstest.Hash(body))
	r.Header.Set("X-Amz-Account-Id", account)
	server.Sign(r, body, server.Administrator(account), "s3", "us-east-1", time.Now())
	status, _, text := server.Send(server.Client(), r)
	return status, text
}

// TestAnAccountBlocksPublicAccess does so by S3 Control, at its own host and at
// the server's, and by the admin API, which all show one state.
func TestAnAccountBlocksPublicAccess(t *testing.T) {
	server := start(t)
	const path = "/v20180820/configuration/publicAccessBlock"
	host := "https://" + ours + ".s3-control.us-east-1.amazonaws.com"
	c := client(server, ours, "us-east-1")
	bucket(t, c, "docs")
	_, err := c.PutPublicAccessBlock(t.Context(), &s3.PutPublicAccessBlockInput{Bucket: aws.String("docs"),
		PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{}})
	if err != nil {
		t.Fatalf("open the bucket: %v", err)
	}
	const only = "<PublicAccessBlockConfiguration><BlockPublicPolicy>true</BlockPublicPolicy></PublicAccessBlockConfiguration>"
	expect := func(method, url, body string, status int, says string) {
		t.Helper()
		if got, text := signed(t, server, method, url+path, ours, body); got != status || !strings.Contains(text, says) {
			t.Errorf("%s %s answers %d %s, want %d with %q", method, url, got, text, status, says)
		}
	}
	expect("GET", host, "", 404, "<ErrorResponse><Error><Code>NoSuchPublicAccessBlockConfiguration</Code>")
	expect("PUT", host, only, 200, "")
	expect("GET", server.URL(), "", 200, "<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>false</RestrictPublicBuckets>")
	policy := &s3.PutBucketPolicyInput{Bucket: aws.String("docs"), Policy: aws.String(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::docs/open"}]}`)}
	_, err = c.PutBucketPolicy(t.Context(), policy)
	refused(t, err, http.StatusForbidden, "AccessDenied")
	server.Admin().BlockPublicAccess(ours, false)
	expect("GET", host, "", 404, "NoSuchPublicAccessBlockConfiguration")
	if _, err := c.PutBucketPolicy(t.Context(), policy); err != nil {
		t.Errorf("put a public policy while nothing blocks it: %v", err)
	}
	server.Admin().BlockPublicAccess(ours, true)
	expect("GET", host, "", 200, "<RestrictPublicBuckets>true</RestrictPublicBuckets>")
	expect("DELETE", host, "", 204, "")
	expect("GET", server.URL(), "", 404, "NoSuchPublicAccessBlockConfiguration")
}
