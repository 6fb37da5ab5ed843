package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
)

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
