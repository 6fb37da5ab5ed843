package issuer

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/test/e2e"
)

// TestUnregisterAfterTheOIDCIssuerIsGone takes a provider away that the operator left, and none
// that an OIDCIssuer of the cluster still needs.
func TestUnregisterAfterTheOIDCIssuerIsGone(t *testing.T) {
	s := open(t, afterBootstrap)
	url := s.Env["TABARD_ISSUER_URL"]
	s.must(s.Kubectl(t.Context(), "apply", "-f", s.IssuerManifest()))
	s.wantSaid(2, "URL of an issuer", "unregister", e2e.IssuerName)
	s.wantSaid(1, "OIDCIssuer "+e2e.IssuerName+" in the cluster --without-cluster", "unregister", url, "--yes")
	s.wantProviders(1)

	s.must(s.Kubectl(t.Context(), "delete", "oidcissuer", e2e.IssuerName))
	s.wantSaid(0, "- OIDC provider ! role tabard-issuer- dry run", "unregister", url, "--dry-run")
	s.wantSaid(1, "no terminal --yes", "unregister", url)
	s.wantProviders(1)
	s.wantSaid(0, "deleted left in AWS: delete-role --role-name tabard-issuer- to undo:", "unregister", url, "--yes")
	s.wantProviders(0)
	s.wantSaid(0, "there is no OIDC provider", "unregister", url, "--yes")

	bucket := s.Env["TABARD_ISSUER_BUCKET"]
	other := strings.Replace(url, bucket, bucket+"-other", 1)
	s.wantSaid(0, "there is no OIDC provider nothing to do", "unregister", other, "--without-cluster")
}
