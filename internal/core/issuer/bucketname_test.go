package issuer_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestNameWarning(t *testing.T) {
	tests := map[string]bool{
		"acme-oidc-4f1c": false, "acme-oidc-111122223333": false, "acme111122223333": false, "a-3f9a1c20": false,
		"acme": true, "acme-oidc": true, "acme-prod-2": true, "acme-team42": true, "acme-2026": true, "acme-k8s-eu-central-1": true,
	}
	for bucket, want := range tests {
		t.Run(bucket, func(t *testing.T) {
			var spec v1alpha1.OIDCIssuerSpec
			spec.Publication.S3.Bucket = bucket
			if got := issuer.NameWarning(spec); (got != "") != want || want && !strings.Contains(got, bucket+"-ACCOUNT") {
				t.Errorf("warning %q, want one: %t", got, want)
			}
		})
	}
}
