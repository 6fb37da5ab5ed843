// Package privileged proves that a lab's node runs privileged pods only if the lab was
// made with the flag that says so.
package privileged

import (
	"errors"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/onlab"
	"github.com/tabard-dev/tabard/test/node/bed"
)

const manifest = "daemonset.yaml"

func TestNodePrivilegedPodsRunOnlyIfTheLabWasMadeForThem(t *testing.T) {
	t.Run("without the flag", func(t *testing.T) {
		b := bed.Bare(t)
		_, err := b.Lab.Kubectl(t.Context(), "apply", "-f", manifest)
		wantRefused(t, err, 1, "privileged: Forbidden: disallowed by cluster policy")
		_, err = b.Manage(t.Context(), "up", "--localkube", b.Localkube, "--node", "--allow-privileged")
		wantRefused(t, err, 2, "forbids privileged pods, which is decided when a lab is made")
	})
	t.Run("with it", func(t *testing.T) {
		b := bed.Bare(t, "--allow-privileged")
		b.LoadWorkload()
		b.Kubectl("apply", "-f", manifest)
		b.Kubectl("rollout", "status", "daemonset/driver", "--timeout=60s")
		b.Run("lab", "stop", "--dir", b.Dir, "kube-apiserver")
		if err := b.Up(t.Context()); err != nil { // it keeps what it was made with
			t.Fatal(err)
		}
		b.Kubectl("delete", "-f", manifest)
		b.Kubectl("apply", "-f", manifest)
	})
}

func wantRefused(t *testing.T, err error, code int, said string) {
	t.Helper()
	refused, is := errors.AsType[*onlab.RefusedError](err)
	if !is || refused.Code != code || !strings.Contains(refused.Stderr, said) {
		t.Errorf("got %v, want exit code %d and %q", err, code, said)
	}
}
