package issuer

import (
	"strings"

	"github.com/tabard-dev/tabard/test/e2e"
)

// testUnregister takes a provider away when the OIDCIssuer is gone, and none that an
// OIDCIssuer of the cluster still needs.
func (s scenario) testUnregister() {
	url := s.Env["TABARD_ISSUER_URL"]
	s.must(s.Kubectl(s.Context(), "apply", "-f", s.IssuerManifest()))
	s.wantSaid(2, "URL of an issuer", "unregister", e2e.IssuerName)
	s.wantSaid(1, "OIDCIssuer "+e2e.IssuerName+" in the cluster --without-cluster", "unregister", url, "--yes")
	s.wantProviders(1)

	s.must(s.Kubectl(s.Context(), "delete", "oidcissuer", e2e.IssuerName))
	s.wantSaid(0, "- OIDC provider ! role tabard-issuer- dry run", "unregister", url, "--dry-run")
	s.wantSaid(1, "no terminal --yes", "unregister", url)
	s.wantProviders(1)
	s.wantSaid(0, "deleted left in AWS: delete-role --role-name tabard-issuer- to undo:", "unregister", url, "--yes")
	s.wantProviders(0)
	s.wantSaid(0, "there is no OIDC provider", "unregister", url, "--yes")

	bucket := s.Env["TABARD_ISSUER_BUCKET"]
	other := strings.Replace(url, bucket, bucket+"-other", 1)
	s.wantSaid(0, "there is no OIDC provider nothing to do", "unregister", other, "--without-cluster")
	s.must(s.bootstrap())
}
