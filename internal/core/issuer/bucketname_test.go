package issuer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestNameWarning(t *testing.T) {
	tests := map[string]bool{
		"acme-oidc-4f1c": false, "acme-oidc-111122223333": false, "acme111122223333": false, "a-3f9a1c20": false,
		"acme-abcdef12": false, "acme-fedcbafe-oidc": false, "acme-abcd12": true, "acme-facade": true,
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

// TestNoRandomPartIsGuessable takes names as "openssl rand -hex 4" and a lab give them.
func TestNoRandomPartIsGuessable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var spec v1alpha1.OIDCIssuerSpec
		spec.Publication.S3.Bucket = fmt.Sprintf("tabard-lab-%08x-oidc", random.Uint32())
		if warning := issuer.NameWarning(spec); warning != "" {
			t.Fatal(warning)
		}
	}
}
