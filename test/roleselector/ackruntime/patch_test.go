// Package ackruntime tests the page on role selectors in ACK's controllers: what it
// tells to type makes ACK's runtime, of the version that it names, one with them.
package ackruntime

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// controller is the least of a program on ACK's runtime. It does not compile without
// the patch.
const controller = `package main

import (
	"fmt"

	"github.com/aws-controllers-k8s/runtime/pkg/config"
	"github.com/aws-controllers-k8s/runtime/pkg/featuregate"
	"github.com/aws-controllers-k8s/runtime/pkg/runtime"
)

func main() {
	cfg := config.Config{}
	fmt.Println(featuregate.IAMRoleSelector, cfg.RoleSelectors, cfg.AssumeRole, runtime.NewServiceController("s3", "s3.services.k8s.aws", struct {
		GitCommit, GitVersion, BuildDate string
	}{}) != nil)
}
`

func TestThePatchIsAppliedAndCompiles(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "role-selectors-in-ack.md")))(t)
	patches, commands := testkit.Blocks(string(page), "diff"), testkit.Blocks(string(page), "sh")
	if len(patches) != 1 || len(commands) != 1 {
		t.Fatalf("the page has %d patches and %d pieces of commands, want one each", len(patches), len(commands))
	}
	root := must.Get(filepath.Abs(testkit.Root()))(t)
	sums := must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"main.go": controller, "role-selectors.patch": patches[0] + "\n", "go.mod": module(root), "go.sum": string(sums)} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	script := strings.Repeat(commands[0]+"\n", 2)
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOWORK=off")
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the page's commands fail: %v\n%s", err, said)
	}
	versions := exec.CommandContext(t.Context(), "go", "list", "-mod=mod", "-m", "-f", "{{.Version}}", "k8s.io/client-go", "sigs.k8s.io/controller-runtime")
	versions.Dir, versions.Env = dir, command.Env
	if got := string(must.Get(versions.Output())(t)); got != "v0.33.4\nv0.21.0\n" {
		t.Errorf("client-go and controller-runtime are %q, the page says 0.33 and 0.21", got)
	}
	if lines := contextLines(patches[0]); lines > 50 {
		t.Errorf("the patch repeats %d lines of the runtime; it shows no more of it than it needs", lines)
	}
}

// module is a controller's on the libraries of this checkout, and on nothing else of Tabard.
func module(root string) string {
	const name = "github.com/tabard-dev/tabard"
	text := "module example.com/controller\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/aws-controllers-k8s/runtime v0.52.0\n\t" + name + "/roleselector/kube v0.0.0\n)\n"
	for _, folder := range []string{"/api", "/awsauth", "/awsauth/kube", "/roleselector", "/roleselector/kube"} {
		text += "\nreplace " + name + folder + " => " + root + folder + "\n"
	}
	return text
}

func contextLines(patch string) (lines int) {
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, " ") {
			lines++
		}
	}
	return lines
}
