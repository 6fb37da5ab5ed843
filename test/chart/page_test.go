package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheInstallationsBlocksAreTypedTwice types the blocks of docs/install.md that install, take
// over, upgrade and uninstall, each twice in a row, in one cluster.
func TestTheInstallationsBlocksAreTypedTwice(t *testing.T) {
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs/install.md")))(t))
	w := newWorld(t)
	for _, begin := range []string{
		"awk -v registry",
		"helm upgrade --install tabard charts/tabard --namespace tabard-system --take-ownership",
		"helm upgrade --install tabard charts/tabard --namespace tabard-system --create-namespace --set \"$IMAGES\"\nkubectl label",
		"helm upgrade tabard charts/tabard",
		"helm uninstall tabard",
		"helm template tabard",
	} {
		_, behind, found := strings.Cut(page, "\n"+begin)
		if !found || !strings.Contains(page, "```\n"+begin) && !strings.Contains(page, "```sh\n"+begin) {
			t.Fatalf("docs/install.md has no block that begins with %q", begin)
		}
		rest, _, _ := strings.Cut(behind, "\n```")
		// A released helm knows a version of Kubernetes of its own time, and this one none.
		block := strings.Replace(begin+rest, "helm template", "helm template --kube-version 1.35.4", 1)
		w.shell("export REGISTRY=registry.example.com/team TAG=devel IMAGES=image.registry=registry.example.com/team,image.tag=devel\n" + block + "\n" + block)
		w.Shell("for name in tabard-certificate tabard-probe; do\n" +
			"until [ \"$(kubectl get namespace $name --ignore-not-found -o 'jsonpath={.status.phase}')\" != Terminating ]; do sleep 0.2; done\ndone")
		deployments := w.Shell("kubectl get deployments -A -o name")
		if gone := strings.HasPrefix(begin, "helm uninstall"); strings.Contains(deployments, "deployment.apps/tabard-webhook") == gone {
			t.Errorf("after %q the cluster has %s", begin, deployments)
		}
	}
}
