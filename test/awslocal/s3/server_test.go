// Package s3_test asks the local S3 with clients that are not ours: the
// AWS SDK for Go and the aws command line.
package s3_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const (
	ours   = "123456789012"
	theirs = "111122223333"
)

// start runs a local AWS with two accounts for one test.
func start(t *testing.T) *awstest.Lab {
	t.Helper()
	return awstest.Start(t, awslocal.Options{Accounts: []string{ours, theirs}})
}

// client is an S3 client of an account's administrator. It knows the server by
// whatever host a URL names.
func client(server *awstest.Lab, account, region string, options ...func(*s3.Options)) *s3.Client {
	cfg := server.As(server.Administrator(account))
	cfg.Region = region
	return s3.NewFromConfig(cfg, append([]func(*s3.Options){func(o *s3.Options) { o.RetryMaxAttempts = 0; o.Retryer = aws.NopRetryer{} }}, options...)...)
}

// bucket makes a bucket in us-east-1.
func bucket(t *testing.T, c *s3.Client, name string) {
	t.Helper()
	if _, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatalf("create bucket %s: %v", name, err)
	}
}

// refused demands an error of a code and status.
func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	var api smithy.APIError
	var response *awshttp.ResponseError
	if !errors.As(err, &api) || !errors.As(err, &response) {
		t.Fatalf("got %v, want an answer of the API", err)
	}
	if api.ErrorCode() != code || response.HTTPStatusCode() != status {
		t.Errorf("got %d %s, want %d %s: %v", response.HTTPStatusCode(), api.ErrorCode(), status, code, err)
	}
}
