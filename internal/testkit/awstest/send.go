package awstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Send makes a request with a client and returns the answer's status, headers and
// body.
func (l *Lab) Send(client *http.Client, r *http.Request) (int, http.Header, string) {
	l.t.Helper()
	response, err := client.Do(r)
	l.Must(response, err)
	body, err := io.ReadAll(response.Body)
	l.Must(body, errors.Join(err, response.Body.Close()))
	return response.StatusCode, response.Header, string(body)
}

// Signer signs paths as the SDK does for a service.
func Signer(service string) *v4.Signer {
	return v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = service == "s3" })
}

// Hash is the hash of a body that signatures hold.
func Hash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// Sign signs a request with a body for a service, where the SDK has no client that
// makes it.
func (l *Lab) Sign(r *http.Request, body string, key aws.Credentials, service, region string, at time.Time) {
	l.t.Helper()
	l.Must(nil, Signer(service).SignHTTP(l.t.Context(), key, r, Hash(body), service, region, at))
}

// CommandLine runs the aws command line, which must be on the PATH, with the
// holder's key; the zero key is none. The environment comes after that of the
// process and wins.
func (l *Lab) CommandLine(key aws.Credentials, environment []string, arguments ...string) (stdout, stderr string, err error) {
	l.t.Helper()
	program, err := exec.LookPath("aws")
	if err != nil {
		l.t.Fatalf("these tests need the aws command line, version 1.45 or later, on the PATH: %v", err)
	}
	c := exec.CommandContext(l.t.Context(), program, arguments...)
	c.Env = append(os.Environ(), "HOME="+l.folder, "LC_ALL=C.UTF-8", "AWS_PAGER=", "AWS_DEFAULT_OUTPUT=json",
		"AWS_ENDPOINT_URL="+l.URL(), "AWS_CA_BUNDLE="+l.Path("ca.crt"), "AWS_REGION="+l.region(), "AWS_DEFAULT_REGION="+l.region())
	if key.AccessKeyID != "" {
		c.Env = append(c.Env, "AWS_ACCESS_KEY_ID="+key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+key.SecretAccessKey)
	}
	c.Env = append(c.Env, environment...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err = c.Run(); err != nil && errs.Len() == 0 {
		l.t.Fatal(err)
	}
	return out.String(), strings.TrimSpace(errs.String()), err
}
