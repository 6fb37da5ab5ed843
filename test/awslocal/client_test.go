package awslocal_test

import (
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// changer is an HTTP client that spoils requests after they were signed.
type changer struct {
	client *http.Client
	change func(*http.Request)
}

// Do sends a request.
func (c *changer) Do(r *http.Request) (*http.Response, error) {
	if c.change != nil {
		c.change(r)
	}
	return c.client.Do(r)
}

// at is a configuration of clients that ask at another URL.
func at(url string, cfg aws.Config) aws.Config {
	cfg.BaseEndpoint = &url
	return cfg
}

// askCorrected asks with a second attempt: the first tells the client how far
// its clock is off.
func askCorrected(t *testing.T, client *sts.Client) string {
	t.Helper()
	_, err := client.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}, func(o *sts.Options) { o.RetryMaxAttempts = 2 })
	return awstest.Refusal(nil, err)
}

func thumbprint(certificate *x509.Certificate) string {
	sum := sha1.Sum(certificate.Raw)
	return hex.EncodeToString(sum[:])
}
