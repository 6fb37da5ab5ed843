package ocm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// Clusteradm runs Open Cluster Management's own command at a cluster, as its administrator, and
// returns what it has said. That it fails ends the test.
func Clusteradm(t testing.TB, at *testkit.Cluster, args ...string) (said string) {
	t.Helper()
	path, err := filepath.Abs(os.Getenv("TABARD_CLUSTERADM"))
	if err != nil || os.Getenv("TABARD_CLUSTERADM") == "" {
		t.Fatal("TABARD_CLUSTERADM is not set: run make interop, or make clusteradm and set it to bin/clusteradm")
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), path, append(args, "--kubeconfig="+at.Kubeconfig(at.Config))...)
	command.Env = []string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	process := testkit.StartProcess(t, command)
	if code := process.ExitCode(); code != 0 {
		t.Fatalf("clusteradm %s: exit code %d: %s", args[0], code, process.Log())
	}
	return process.Log()
}
