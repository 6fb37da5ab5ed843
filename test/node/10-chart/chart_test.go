// Package chart proves on a node that the README's lines install Tabard, and that pods keep
// their identity while it is upgraded and when it is gone.
package chart

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

const (
	team = "team-c"
	// wrote is in each line of a workload whose call succeeded.
	wrote = `"wrote"`
)

// helm is the program.
var helm string

func TestMain(m *testing.M) { os.Exit(testkit.RunWithHelm(m, &helm)) }

func TestNodeTheReadmesLinesInstallTabard(t *testing.T) {
	b := bed.Bare(t)
	dir := checkout(t, b)
	began := time.Now()
	install(t, b, dir)
	b.Since(began, "from \"helm upgrade --install\" until the issuer is Ready")
	install(t, b, dir) // again, as somebody does who is not sure
	if said := b.Shell(dir, "helm test tabard --namespace tabard-system --timeout 3m"); !strings.Contains(said, "Succeeded") {
		t.Errorf("helm test said\n%s", said)
	}
	b.Shell(dir, strings.Repeat("tabard ready\ntabard ready --timeout=0s\n", 2))
	page := string(must.Get(os.ReadFile(filepath.Join(b.Root, "docs", "install.md")))(t))
	at := slices.IndexFunc(testkit.Blocks(page, "sh"), func(block string) bool { return strings.HasPrefix(block, "tabard issuer init\n") })
	b.Shell(dir, strings.Repeat(testkit.Blocks(page, "sh")[at]+"\n", 2))
	b.LoadWorkload()
	role := b.Team(team, nil)
	b.Apply(team, "deployment.yaml", role)
	b.AwaitLine(team, "deployment/app", "app", wrote)

	b.Shell(dir, "helm upgrade tabard charts/tabard --namespace tabard-system --reset-then-reuse-values --set webhook.podAnnotations.turn=two --wait --timeout 3m")
	b.Kubectl("rollout", "restart", "deployment/app", "-n", team)
	b.Kubectl("rollout", "status", "deployment/app", "-n", team, "--timeout=180s")
	b.AwaitLine(team, "deployment/app", "app", wrote)

	b.Shell(dir, "helm uninstall tabard --namespace tabard-system --wait --timeout 3m")
	seen := len(b.Calls(role))
	b.Eventually("the pod calls AWS when Tabard is gone", func(context.Context) error {
		if len(b.Calls(role)) <= seen {
			return errors.New("it does not")
		}
		return nil
	})
	b.SaysNothingBut(team, "deployment/app", "app", wrote)
}

// checkout is a folder in which the README's lines can be typed: with the chart, helm and
// tabard, and nothing of a person's own that they could overwrite.
func checkout(t *testing.T, b *bed.Bed) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.Symlink(filepath.Join(b.Root, "charts"), filepath.Join(dir, "charts")))
	must.Do(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	must.Do(t, os.Symlink(b.Tabard, filepath.Join(dir, "bin", "tabard")))
	must.Do(t, os.Symlink(helm, filepath.Join(dir, "bin", "helm")))
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	for _, name := range []string{"CACHE", "CONFIG", "DATA"} {
		t.Setenv("HELM_"+name+"_HOME", filepath.Join(dir, "home"))
	}
	return dir
}

// install types the README's lines. The lab's AWS is not at AWS's address, so that after
// the first line the issuer's pod is told its address and its certificate authority.
func install(t *testing.T, b *bed.Bed, dir string) {
	t.Helper()
	page := must.Get(os.ReadFile(filepath.Join(b.Root, "README.md")))(t)
	blocks := testkit.Blocks(string(page), "sh")
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of commands to run, want one", len(blocks))
	}
	first, rest, _ := strings.Cut(blocks[0], "\n")
	b.Shell(dir, first)
	b.Shell(dir, `kubectl apply -n tabard-system -f "$LAB/manifests/aws.yaml"
		kubectl patch deployment tabard-issuer -n tabard-system --patch-file "$LAB/manifests/issuer-patch.yaml"`)
	b.Shell(dir, rest)
	b.Kubectl("wait", "oidcissuer/cluster", "--for=condition=Ready", "--timeout=300s")
}
