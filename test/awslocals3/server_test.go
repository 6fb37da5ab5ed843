// Package awslocals3_test asks the local S3 with clients that are not ours: the
// AWS SDK for Go and the aws command line.
package awslocals3_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
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
func start(t *testing.T) *awslocal.Server {
	t.Helper()
	server, err := awslocal.New(awslocal.Options{Accounts: []string{ours, theirs}})
	if err != nil {
		t.Fatalf("awslocal: %v", err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatalf("start awslocal: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close awslocal: %v", err)
		}
	})
	return server
}

// httpClient trusts the server and, whatever host a URL names, talks to it.
func httpClient(t *testing.T, server *awslocal.Server) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(server.CACertificate()) {
		t.Fatal("the server's CA certificate is no PEM")
	}
	address := strings.TrimPrefix(server.URL(), "https://")
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: awstest.PlainBodies(transport), CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// client is an S3 client of an account's administrator.
func client(t *testing.T, server *awslocal.Server, account, region string, options ...func(*s3.Options)) *s3.Client {
	t.Helper()
	keys := server.Administrator(account)
	return s3.New(s3.Options{
		Region:       region,
		BaseEndpoint: aws.String(server.URL()),
		HTTPClient:   httpClient(t, server),
		Credentials:  credentials.NewStaticCredentialsProvider(keys.AccessKeyID, keys.SecretAccessKey, ""),
		Retryer:      aws.NopRetryer{},
	}, options...)
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
