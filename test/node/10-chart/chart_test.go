// Package chart proves on a node that the pages' lines install Tabard, and that pods keep
// their identity while it is upgraded and when it is gone.
package chart

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// TestNodeTheInstallationsPagesInstallTabard types docs/install.md and then the README from top to
// bottom: from a clone, by a registry that the node pulls from, to a pod with its role.
func TestNodeTheInstallationsPagesInstallTabard(t *testing.T) {
	b := bed.Bare(t)
	dir, registry := checkout(t, b), b.Registry()
	began := time.Now()
	b.Shell(dir, onLab(t, registry, installation(t, b)))
	b.Since(began, "typing docs/install.md in a clone, until Tabard is ready")
	// Again, as somebody does who is not sure.
	b.Shell(dir, onLab(t, registry, installation(t, b))+"\n"+strings.Repeat(onLab(t, registry, readme(t, b))+"\n", 2))
	b.Kubectl("wait", "oidcissuer/cluster", "--for=condition=Ready", "--timeout=300s")
	if images := b.Kubectl("get", "pods", "-n", "tabard-system", "-o", "jsonpath={.items[*].spec.containers[*].image}"); strings.Count(images, registry+"/tabard") != len(strings.Fields(images)) {
		t.Errorf("the pods run %s, want images of %s", images, registry)
	}
	b.Shell(dir, strings.Repeat("export PATH=\"$PWD/bin:$PATH\"\ntabard ready\ntabard ready --timeout=0s\n", 2))
	noImage(t, b, dir)
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

// noImage upgrades to an image that the registry does not have, and back. The pods that run go on;
// tabard ready says of each component why its new ones do not start, and nothing else.
func noImage(t *testing.T, b *bed.Bed, dir string) {
	t.Helper()
	b.Shell(dir, "helm upgrade tabard charts/tabard --namespace tabard-system --reset-then-reuse-values --set image.tag=nosuch")
	said := b.Shell(dir, "if bin/tabard ready --timeout=45s 2>&1; then exit 1; fi")
	components := strings.Fields(b.Kubectl("get", "deployments", "-A", "-l", "app.kubernetes.io/name=tabard", "-o", "jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {end}"))
	_, last, _ := strings.Cut(said, "not ready after 45s:\n") // it tells of changes before
	lines := strings.Split(strings.TrimSpace(last), "\n")
	for _, component := range components {
		if !slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, "Deployment "+component+" ") && strings.Contains(line, "nosuch") && (strings.Contains(line, "ErrImagePull") || strings.Contains(line, "ImagePullBackOff"))
		}) {
			t.Errorf("no line says why %s does not start", component)
		}
	}
	if len(components) < 4 || len(lines) != len(components) || strings.Contains(said, "goroutine ") {
		t.Errorf("of %v tabard ready said\n%s", components, said)
	}
	b.Shell(dir, "helm rollback tabard --namespace tabard-system --wait --timeout 3m\nbin/tabard ready")
}

// checkout is a copy of the project's own files, as a clone of it has them, with nothing that was
// built, and with helm on the PATH.
func checkout(t *testing.T, b *bed.Bed) string {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	list := exec.CommandContext(t.Context(), "bash", "-c", `git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from=- | tar --extract --directory="$1"`, "bash", dir)
	list.Dir = b.Root
	if said, err := list.CombinedOutput(); err != nil {
		t.Fatalf("copy the project's files: %v\n%s", err, said)
	}
	t.Setenv("PATH", filepath.Dir(helm)+":"+os.Getenv("PATH"))
	t.Setenv("PLATFORMS", "linux/"+runtime.GOARCH) // the node's is enough
	for _, name := range []string{"CACHE", "CONFIG", "DATA"} {
		t.Setenv("HELM_"+name+"_HOME", home)
	}
	return dir
}

// installation are the blocks of docs/install.md that its reader is to type in their order.
func installation(t *testing.T, b *bed.Bed) string {
	t.Helper()
	page, _, found := strings.Cut(string(must.Get(os.ReadFile(filepath.Join(b.Root, "docs", "install.md")))(t)), "\n## Components\n")
	blocks := testkit.Blocks(page, "sh")
	if !found || len(blocks) != 4 {
		t.Fatalf("docs/install.md has %d blocks of commands to run before Components, want four", len(blocks))
	}
	return strings.Join(blocks, "\n")
}

// readme are the README's lines.
func readme(t *testing.T, b *bed.Bed) string {
	t.Helper()
	blocks := testkit.Blocks(string(must.Get(os.ReadFile(filepath.Join(b.Root, "README.md")))(t)), "sh")
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of commands to run, want one", len(blocks))
	}
	return blocks[0]
}

// onLab is what is typed in the lab: with a registry in place of the example, and with one thing
// more. The lab's AWS is not at AWS's address, so that before the issuer is made its publisher's
// pod is told the address and the certificate authority.
func onLab(t *testing.T, registry, typed string) string {
	t.Helper()
	const example, issuer = "registry.example.com/team", "\ntabard issuer init\n"
	if strings.Count(typed, example) != 1 || strings.Count(typed, issuer) != 1 {
		t.Fatalf("want one %s and one %q in\n%s", example, issuer, typed)
	}
	typed = strings.Replace(typed, example, registry, 1)
	return strings.Replace(typed, issuer, `
kubectl apply -n tabard-system -f "$LAB/manifests/aws.yaml"
kubectl patch deployment tabard-issuer -n tabard-system --patch-file "$LAB/manifests/issuer-patch.yaml"`+issuer, 1)
}
