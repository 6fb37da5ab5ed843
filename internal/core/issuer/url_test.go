package issuer_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestValidateURL(t *testing.T) {
	tests := map[string]struct{ url, want string }{
		"a host is enough":             {"https://issuer.example.org", ""},
		"a port and a path are fine":   {"https://127.0.0.1:8443/clusters/one", ""},
		"255 bytes are fine":           {"https://issuer.example.org/" + strings.Repeat("a", 228), ""},
		"256 bytes are too many":       {"https://issuer.example.org/" + strings.Repeat("a", 229), "at most 255"},
		"http is refused":              {"http://issuer.example.org", "over https only"},
		"upper-case HTTPS is refused":  {"HTTPS://issuer.example.org", "expected https://"},
		"a trailing slash is refused":  {"https://issuer.example.org/", "no slash at the end"},
		"a lone scheme is refused":     {"https://", "a host"},
		"a missing host is refused":    {"https://:443", "a host"},
		"a user is refused":            {"https://me:secret@issuer.example.org", "holds a user"},
		"a query is refused":           {"https://issuer.example.org?a=b", "neither query nor fragment"},
		"an empty query is refused":    {"https://issuer.example.org?", "neither query nor fragment"},
		"a fragment is refused":        {"https://issuer.example.org#a", "neither query nor fragment"},
		"a blank is refused":           {"https://issuer.example.org/a b", "without blanks"},
		"a line break is refused":      {"https://issuer.example.org\n", "without blanks"},
		"letters beyond ASCII are too": {"https://issuer.exämple.org", "printable ASCII"},
		"a bad escape is refused":      {"https://issuer.example.org/%zz", "expected https://HOST"},
		"nothing is refused":           {"", "over https only"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wantError(t, issuer.ValidateURL(test.url), test.want)
			if test.want == "no slash at the end" { // which is a rule for Tabard's own
				test.want = ""
			}
			wantError(t, issuer.ValidateForeignURL(test.url), test.want)
		})
	}
}

// wantError demands an error that says so; none if want is empty. A password is
// never part of it.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want == "":
	case err == nil:
		t.Errorf("no error, want one that says %q", want)
	case want == "" || !strings.Contains(err.Error(), want):
		t.Errorf("error is %q, want %q", err, want)
	case strings.Contains(err.Error(), "secret"):
		t.Errorf("error holds a secret: %q", err)
	}
}

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha1.OIDCIssuerSpec)
		want   string
	}{
		"the spec of the tests is fine": {func(*v1alpha1.OIDCIssuerSpec) {}, ""},
		"defaults need not be written": {func(s *v1alpha1.OIDCIssuerSpec) {
			s.Keys, s.RetireKeysAfter, s.DeletionPolicy = v1alpha1.KeySource{}, metav1.Duration{}, ""
		}, ""},
		"a bad URL is named":                {func(s *v1alpha1.OIDCIssuerSpec) { s.URL = "x" }, "spec.url: "},
		"a bucket with dots is refused":     {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.Bucket = "a.b.c" }, "without dots"},
		"a bucket in capitals is refused":   {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.Bucket = "ABC" }, "lower-case"},
		"a region that is none is refused":  {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.Region = "Frankfurt" }, "eu-central-1"},
		"a prefix with a slash is refused":  {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.Prefix = "/a" }, "prefix"},
		"a prefix with dots is refused":     {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.Prefix = "a/../b" }, "no part that is"},
		"an unknown publicRead is refused":  {func(s *v1alpha1.OIDCIssuerSpec) { s.Publication.S3.PublicRead = "ACL" }, "publicRead"},
		"an unknown key source is refused":  {func(s *v1alpha1.OIDCIssuerSpec) { s.Keys.Source = "File" }, "spec.keys: source"},
		"a ConfigMap without name is too":   {func(s *v1alpha1.OIDCIssuerSpec) { s.Keys.Source = v1alpha1.KeySourceConfigMap }, "configMap.namespace"},
		"an entry without audience is too":  {func(s *v1alpha1.OIDCIssuerSpec) { s.Providers[0].Audiences = nil }, "spec.providers[0]: audiences"},
		"a comma in an audience is refused": {func(s *v1alpha1.OIDCIssuerSpec) { s.Providers[0].Audiences = []string{"a,b"} }, "without comma"},
		"a role that is no role is refused": {func(s *v1alpha1.OIDCIssuerSpec) { s.Providers[1].AssumeRoleARN = "arn:aws:iam::1:user/a" }, "assumeRoleARN"},
		"too short a retirement is refused": {func(s *v1alpha1.OIDCIssuerSpec) { s.RetireKeysAfter.Duration = time.Hour }, "at least 24h"},
		"an unknown policy is refused":      {func(s *v1alpha1.OIDCIssuerSpec) { s.DeletionPolicy = "Orphan" }, "Retain or Delete"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := testIssuer().Spec
			test.change(&spec)
			wantError(t, issuer.Validate(spec), test.want)
		})
	}
}
