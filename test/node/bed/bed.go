// Package bed is what the scenarios on a real node share: a lab with a node, on
// which Tabard runs as its users run it, from their manifests.
package bed

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// Bed is a lab with a node for one test.
type Bed struct {
	*onlab.Lab
	Kube kubernetes.Interface
	// Account is the AWS account.
	Account string

	t *testing.T
}

// Open starts a lab with a node and installs Tabard. The test ends it, and keeps its
// logs if it failed.
func Open(t *testing.T) *Bed {
	t.Helper()
	b, began := Bare(t), time.Now()
	b.Install()
	b.Since(began, "installing Tabard")
	return b
}

// Bare is a lab with a node and without Tabard, but with its images. The flags are more of
// "lab up".
func Bare(t *testing.T, flags ...string) *Bed {
	t.Helper()
	dir, err := os.MkdirTemp("", "node-") // t.TempDir's are too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	b := &Bed{t: t}
	if b.Lab, err = onlab.At(testkit.Root(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	began := time.Now()
	must.Do(t, b.Up(t.Context(), append([]string{"--node"}, flags...)...))
	t.Logf("the node is ready %.1f s after \"lab up --node\"", time.Since(began).Seconds())
	config, err := clientcmd.BuildConfigFromFlags("", b.Env["KUBECONFIG"])
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1 // the API server says how much is too much
	if b.Kube, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if b.Account, err = b.Lab.Account(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// For is the bed for a subtest, which fails by itself.
func (b *Bed) For(t *testing.T) *Bed {
	its := *b
	its.t = t
	return &its
}

// close ends the lab. What a failed test left behind is told.
func (b *Bed) close() {
	ctx := context.WithoutCancel(b.t.Context())
	failed := b.t.Failed()
	if failed {
		b.tell(ctx)
	}
	began := time.Now()
	if err := b.Down(ctx, failed); err != nil {
		b.t.Error(err)
	}
	b.Since(began, "taking the lab down")
	if failed {
		b.t.Logf("the logs are in %s", filepath.Join(b.Dir, "logs"))
		return
	}
	if err := os.RemoveAll(b.Dir); err != nil {
		b.t.Error(err)
	}
}

// tell logs what runs and what went wrong.
func (b *Bed) tell(ctx context.Context) {
	for _, args := range [][]string{
		{"get", "pods", "--all-namespaces", "-o", "wide"},
		{"get", "events", "--all-namespaces", "--field-selector", "type=Warning"},
	} {
		said, err := b.Lab.Kubectl(ctx, args...)
		b.t.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, said)
	}
}

// Install runs what docs/lab.md tells a person to type.
func (b *Bed) Install() {
	b.t.Helper()
	page := must.Get(os.ReadFile(filepath.Join(b.Root, "docs", "lab.md")))(b.t)
	blocks := testkit.Blocks(string(page), "sh")
	if len(blocks) != 1 {
		b.t.Fatalf("docs/lab.md has %d blocks of commands to run, want one", len(blocks))
	}
	b.Shell(b.Root, blocks[0])
}

// Shell runs commands in a folder, as a person does in the lab's environment, with LAB as
// its folder. They must succeed.
func (b *Bed) Shell(dir, script string) string {
	b.t.Helper()
	begin := "set -euo pipefail\neval \"$(\"$TABARD_BIN\" lab env --dir \"$LAB\")\"\n"
	command := exec.CommandContext(b.t.Context(), "bash", "-c", begin+script)
	command.Dir, command.Env = dir, append(os.Environ(), "LAB="+b.Dir, "TABARD_BIN="+b.Tabard)
	said, err := command.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v\n%s\n%s", err, script, said)
	}
	return string(said)
}

// Run runs tabard, which must succeed.
func (b *Bed) Run(args ...string) string {
	b.t.Helper()
	said := must.Get(b.RunTabard(b.t.Context(), args...))(b.t)
	return said
}

// Kubectl runs kubectl, which must succeed.
func (b *Bed) Kubectl(args ...string) string {
	b.t.Helper()
	said := must.Get(b.Lab.Kubectl(b.t.Context(), args...))(b.t)
	return said
}

// Eventually waits until what is expected is so.
func (b *Bed) Eventually(expected string, ask func(context.Context) error) {
	b.t.Helper()
	if err := onlab.Eventually(b.t.Context(), onlab.Patience, ask); err != nil {
		b.t.Fatalf("%s: %v", expected, err)
	}
}
