package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// runInit runs the command and returns its exit code and what it said.
func runInit(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	root := rootCommand("tabard", local.Commands())
	root.SetArgs(append([]string{"issuer", "init"}, args...))
	var stdout, stderr bytes.Buffer
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err := root.ExecuteContext(t.Context())
	code = program.ExitCode(&stderr, err)
	return code, stdout.String(), stderr.String()
}

func TestInitReplacesNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "issuer.yaml")
	args := []string{"--region", "eu-central-1", "--account", "123456789012", "-f", file}
	if code, out, said := runInit(t, args...); code != program.ExitFine || out != "" || !strings.Contains(said, "tabard issuer bootstrap -f "+file) {
		t.Fatalf("exit code %d, %q and %q", code, out, said)
	}
	if _, err := readIssuer(file); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o600 != 0o600 || info.Mode().Perm()&0o133 != 0 {
		t.Errorf("the file has the mode %v (%v)", info.Mode(), err)
	}
	must.Do(t, os.WriteFile(file, []byte("mine"), 0o600))
	if code, _, said := runInit(t, args...); code != program.ExitRefused || !strings.Contains(said, "--force") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q (%v), want it as it was", text, err)
	}
	if code, _, said := runInit(t, append(args, "--force")...); code != program.ExitFine {
		t.Errorf("exit code %d with --force, said %q", code, said)
	}
	if _, err := readIssuer(file); err != nil {
		t.Error(err)
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	if code, _, said := runInit(t, "--account", "123456789012", "-f", "-"); code != program.ExitUnusable || !strings.Contains(said, "AWS_REGION") {
		t.Errorf("without a region: exit code %d, said %q", code, said)
	}
}

// TestWhatInitWritesIsStored has a real API server take the file.
func TestWhatInitWritesIsStored(t *testing.T) {
	cluster := theCluster(t)
	file := filepath.Join(t.TempDir(), "issuer.yaml")
	if code, _, said := runInit(t, "--region", "eu-central-1", "--account", "123456789012", "-f", file); code != program.ExitFine {
		t.Fatalf("exit code %d, said %q", code, said)
	}
	testkit.Shell(t, cluster.Config, "kubectl apply --validate=strict -f "+file)
	wanted := must.Get(readIssuer(file))(t)
	stored := wanted.DeepCopy()
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(wanted), stored); err != nil || stored.Spec.URL != wanted.Spec.URL {
		t.Errorf("stored is %+v (%v)", stored.Spec, err)
	}
}
