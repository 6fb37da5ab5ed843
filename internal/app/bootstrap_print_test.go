package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// runPrint runs bootstrap as one who has neither a cluster nor an AWS session.
func runPrint(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	root := rootCommand("tabard", local.Commands())
	root.SetArgs(append([]string{"issuer", "bootstrap"}, args...))
	var stdout, stderr bytes.Buffer
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err := root.ExecuteContext(t.Context())
	code = program.ExitCode(&stderr, err)
	return code, stdout.String(), stderr.String()
}

func TestBootstrapPrintsWhatSomebodyElseIsToMake(t *testing.T) {
	file := filepath.Join(t.TempDir(), "issuer.yaml")
	if code, _, said := runInit(t, "--region", "eu-central-1", "--account", "123456789012", "-f", file); code != program.ExitFine {
		t.Fatal(said)
	}
	const url, subject = "https://cluster-oidc-123456789012.s3.eu-central-1.amazonaws.com", "system:serviceaccount:tabard-system:tabard-issuer"
	for _, form := range handoff.Forms() {
		code, out, said := runPrint(t, "-f", file, "--account", "123456789012", "--print", form)
		if code != program.ExitFine || said != "" {
			t.Fatalf("%s: exit code %d, said %q", form, code, said)
		}
		for _, want := range []string{url, subject, "sts:AssumeRoleWithWebIdentity", "s3:PutObject", "tabard.dev/issuer", "TabardPublicRead", "tabard issuer bootstrap -f FILE"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not hold %s:\n%s", form, want, out)
			}
		}
		if form == string(handoff.JSON) {
			wantPolicies(t, out)
		}
	}
	for name, args := range map[string][]string{
		"pulumi, expected one of": {"--account", "123456789012", "--print", "pulumi"}, "twelve digits": {"--account", "12", "--print", "aws"},
	} {
		if code, out, said := runPrint(t, append(args, "-f", file)...); code != program.ExitUnusable || out != "" || !strings.Contains(strings.ReplaceAll(said, `"`, ""), name) {
			t.Errorf("%v: exit code %d, %q and %q", args, code, out, said)
		}
	}
	if page, err := os.ReadFile(filepath.Join(testkit.Root(), "docs/oidc-issuer.md")); err != nil ||
		!strings.Contains(string(page), "tabard issuer bootstrap -f issuer.yaml --account 123456789012 --print terraform") {
		t.Errorf("the page has another command than this test (%v)", err)
	}
}

// wantPolicies demands that AWS would take the policies.
func wantPolicies(t *testing.T, text string) {
	t.Helper()
	var work struct {
		Buckets []struct{ Policy json.RawMessage }
		Roles   []struct{ Trust, Policy json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &work); err != nil || len(work.Buckets) != 1 || len(work.Roles) != 1 {
		t.Fatalf("%v, %d buckets and %d roles", err, len(work.Buckets), len(work.Roles))
	}
	for kind, document := range map[iampolicy.Kind]json.RawMessage{
		iampolicy.ResourcePolicy: work.Buckets[0].Policy, iampolicy.TrustPolicy: work.Roles[0].Trust, iampolicy.IdentityPolicy: work.Roles[0].Policy,
	} {
		parsed := must.Get(iampolicy.Parse(document))(t)
		if err := parsed.Validate(kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
