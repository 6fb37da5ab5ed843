package app

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAClusterThatIsNotThereIsNamed, and how to name another.
func TestAClusterThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := "https://" + listener.Addr().String()
	must.Do(t, listener.Close())
	kubeconfig := filepath.Join(t.TempDir(), "away")
	testkit.WriteKubeconfig(t, kubeconfig, &rest.Config{Host: server})
	for _, command := range []string{
		"version", "ready", "credentials list", "credentials describe x", "credentials render x", "issuer status", "issuer verify x",
		"explain resource/bucket/logs", "selector explain bucket/logs", "migrate carm plan",
	} {
		called := exec.CommandContext(t.Context(), testkit.Tabard(t), strings.Fields(command)...)
		called.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=" + kubeconfig}
		said, _ := called.CombinedOutput()
		want := "the API server at " + server + " cannot be reached: dial tcp " + listener.Addr().String() + ": connect: connection refused; --context or --kubeconfig names another cluster\n"
		if called.ProcessState.ExitCode() != usage.Refused || !strings.Contains(string(said), want) || strings.Contains(string(said), "Get \"") {
			t.Errorf("tabard %s: exit code %d and %s\nwant %d and %s", command, called.ProcessState.ExitCode(), said, usage.Refused, want)
		}
	}
}

// TestAClusterThatDoesNotAnswerIsNamedWhileACommandWaits, and commands can be stopped then.
func TestAClusterThatDoesNotAnswerIsNamedWhileACommandWaits(t *testing.T) {
	t.Parallel()
	kubeconfig := offKubeconfig(t)
	for _, command := range []string{"version", "ready", "credentials list", "issuer status", "explain resource/bucket/logs", "migrate carm plan"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			process := testkit.StartTabard(t, []string{"KUBECONFIG=" + kubeconfig}, strings.Fields(command)...)
			testkit.Await(t, func() error {
				if !strings.Contains(process.Log(), "tabard: waiting for the API server at https://127.0.0.1:") {
					return errors.New("it does not say what it waits for")
				}
				return nil
			})
			process.Kill()
		})
	}
}

// TestASignalEndsACommandThatWaits for a cluster, of which a library asks without a context.
func TestASignalEndsACommandThatWaits(t *testing.T) {
	t.Parallel()
	kubeconfig := offKubeconfig(t)
	for _, command := range []string{"version", "ready", "credentials list", "issuer status", "explain resource/bucket/logs", "migrate carm plan", "hub init"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			process := testkit.StartTabard(t, []string{"KUBECONFIG=" + kubeconfig}, strings.Fields(command)...)
			testkit.Await(t, func() error {
				if !strings.Contains(process.Log(), "tabard: waiting for the API server at ") {
					return errors.New("it does not wait")
				}
				return nil
			})
			must.Do(t, syscall.Kill(process.PID(), syscall.SIGINT))
			defer process.Kill() // it has ended, and not well
			if code := process.ExitCode(); code != usage.Interrupted || !strings.Contains(process.Log(), "interrupted") {
				t.Errorf("exit code %d, and it said %q", code, process.Log())
			}
		})
	}
}
