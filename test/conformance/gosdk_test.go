package conformance_test

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// TestGoSDKAgrees asks with the AWS SDK for Go. Its clients are made as programs
// make them: from the environment, by the default configuration.
func TestGoSDKAgrees(t *testing.T) {
	attempts := map[string]attempt{}
	maps.Copy(attempts, goSTS)
	maps.Copy(attempts, goChain)
	maps.Copy(attempts, goIAM)
	maps.Copy(attempts, goS3)
	maps.Copy(attempts, goEKS)
	maps.Copy(attempts, goEC2)
	maps.Copy(attempts, spoiled)
	version := "AWS SDK for Go " + aws.SDKVersion
	overBoth(t, func(t *testing.T, w *world) {
		perform(t, goSDK, false, version, w, attempts)
	})
}

// config is the SDK's default configuration under the world's environment with
// changes; an empty value takes a variable away.
func (w *world) config(t *testing.T, changes map[string]string, options ...func(*config.LoadOptions) error) aws.Config {
	t.Helper()
	variables := w.environment()
	variables["AWS_MAX_ATTEMPTS"] = "1"
	variables["AWS_CA_BUNDLE"] = "" // the HTTP client trusts it already
	maps.Copy(variables, changes)
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			unset(t, name)
		}
	}
	for name, value := range variables {
		if value == "" {
			unset(t, name)
			continue
		}
		t.Setenv(name, value)
	}
	options = append(options, config.WithHTTPClient(&transport{client: &http.Client{Transport: awstest.PlainBodies(w.client.Transport)}}))
	cfg, err := config.LoadDefaultConfig(t.Context(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// unset takes a variable away until the test ends.
func unset(t *testing.T, name string) {
	t.Helper()
	t.Setenv(name, "")
	if err := os.Unsetenv(name); err != nil {
		t.Fatal(err)
	}
}

// transport sends the SDK's requests and keeps the headers of the last.
type transport struct {
	client *http.Client
	last   http.Header
}

// Do sends a request.
func (c *transport) Do(request *http.Request) (*http.Response, error) {
	c.last = request.Header.Clone()
	return c.client.Do(request)
}

func static(key, secret, token string) func(*config.LoadOptions) error {
	return config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, secret, token))
}

// refused demands an error of AWS with a code, and returns its text.
func refused(t *testing.T, err error, code string) string {
	t.Helper()
	var fault smithy.APIError
	if !errors.As(err, &fault) {
		t.Fatalf("got %v, want %s", err, code)
	}
	if fault.ErrorCode() != code {
		t.Errorf("refused with %s: %s, want %s", fault.ErrorCode(), fault.ErrorMessage(), code)
	}
	return fault.ErrorMessage()
}

// must takes an answer that no check expects to be refused.
func must[T any](t *testing.T) func(T, error) T {
	return func(answer T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}
