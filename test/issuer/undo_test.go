package issuer

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/e2e"
)

// TestCommandLineTheUndoOfABootstrap types what a bootstrap prints to undo it, to its end: with a file
// that says nothing of a deletion, which the operator's role may then not carry out, and with one that
// says Delete. The operator runs meanwhile. Before, it types what "issuer unregister" prints.
func TestCommandLineTheUndoOfABootstrap(t *testing.T) {
	for name, c := range map[string]struct {
		spec, flags string
		lines       int
	}{
		"a file as init writes it":    {"", "--role-name=publisher --role-path=/platform/", 6},
		"one that deletes everything": {"  deletionPolicy: Delete\n", "", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, beforeBootstrap)
			s.install()
			text := string(must.Get(os.ReadFile(s.IssuerManifest()))(t))
			must.Do(t, os.WriteFile(s.IssuerManifest(), []byte(strings.Replace(text, "spec:\n", "spec:\n"+c.spec, 1)), 0o600))
			var bootstrapped struct {
				RoleARN string
				Undo    []string
			}
			said := s.shell("tabard issuer bootstrap --yes -o json " + c.flags + " -f " + s.IssuerManifest())
			_, document, _ := strings.Cut(said, "{")
			must.Do(t, json.Unmarshal([]byte("{"+document), &bootstrapped))
			_, back, _ := strings.Cut(s.shell("tabard issuer unregister --yes "+s.Env["TABARD_ISSUER_URL"]), "to undo:\n")
			s.wantProviders(0)
			s.shell(back)
			s.wantProviders(1)
			s.shell("kubectl apply -f " + s.IssuerManifest())
			s.startOperator()
			s.ready()
			if len(bootstrapped.Undo) != c.lines {
				t.Errorf("it has %d commands, want %d: %q", len(bootstrapped.Undo), c.lines, bootstrapped.Undo)
			}
			s.shell(strings.Join(bootstrapped.Undo, "\n"))
			s.wantUndone(bootstrapped.RoleARN)
		})
	}
}

// wantUndone says that nothing of a bootstrap is left but the bucket's name.
func (s scenario) wantUndone(role string) {
	s.Helper()
	if _, err := s.Issuer(s.Context()); !apierrors.IsNotFound(err) {
		s.Errorf("the OIDCIssuer %s is still there (%v)", e2e.IssuerName, err)
	}
	s.wantProviders(0)
	for _, each := range must.Get(iam.NewFromConfig(s.Admin).ListRoles(s.Context(), &iam.ListRolesInput{}))(s).Roles {
		if *each.Arn == role {
			s.Errorf("the role %s is still there", role)
		}
	}
	if out, err := s.Kubectl(s.Context(), "get", "configmap", "tabard-issuer", "-n", "tabard-system"); err == nil {
		s.Errorf("the ConfigMap is still there: %s", out)
	}
}
