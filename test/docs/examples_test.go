package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// A reader is somebody who has the programs on the PATH and types commands in a folder of
// their own, which has their labs, too.
type reader struct{ home, root string }

func newReader(t *testing.T) reader {
	t.Helper()
	r := reader{t.TempDir(), must.Get(filepath.Abs(testkit.Root()))(t)}
	programs := filepath.Join(r.home, "programs")
	must.Do(t, os.Mkdir(programs, 0o755))
	tabard := testkit.Tabard(t)
	for name, program := range map[string]string{
		"tabard":         tabard,
		"tabard-webhook": filepath.Join(filepath.Dir(tabard), "tabard-webhook"), "kubectl": os.Getenv("TABARD_LOCALKUBE"),
	} {
		must.Do(t, os.Symlink(must.Get(filepath.Abs(program))(t), filepath.Join(programs, name)))
	}
	t.Cleanup(func() {
		down := r.command(context.WithoutCancel(t.Context()), ".", "tabard lab down")
		if out, err := down.CombinedOutput(); err != nil {
			t.Errorf("take the lab down: %v\n%s", err, out)
		}
	})
	return r
}

// command is a script in a bash that stops at the first failure.
func (r reader) command(ctx context.Context, folder, script string) *exec.Cmd {
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	shell.Dir = filepath.Join(r.home, folder)
	shell.Env = append(os.Environ(), "XDG_STATE_HOME="+r.home, "TABARD_LAB_DIR=", "KUBECONFIG=",
		"PATH="+filepath.Join(r.home, "programs")+":"+os.Getenv("PATH"), "ROOT="+r.root)
	return shell
}

// follow types a script in a folder and returns what it prints.
func (r reader) follow(t *testing.T, folder, script string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Join(r.home, folder), 0o755))
	out, err := r.command(t.Context(), folder, script).CombinedOutput()
	if err != nil {
		t.Fatalf("the commands failed: %v\n%s", err, out)
	}
	return string(out)
}

// worlds are what examples and blocks of pages need, in the order in which one lab has them: each a script of
// testdata/worlds, which is run before the examples under its heading are typed.
var worlds = []string{"lab", "openshift", "issuer", "operator", "bootstrap", "credentials", "selectors", "migration", "policies", "hub", "hubjoin", "unregister", "awslocal"}

// TestCommandLineTheExamplesOfHelp types the examples of help texts which the inventory lists
// for it, in the inventory's order, each world's twice in a row, in one lab.
func TestCommandLineTheExamplesOfHelp(t *testing.T) {
	tabard := testkit.Tabard(t)
	texts := map[string]string{}
	for _, p := range append(helps(t, tabard), pages(t)...) {
		texts[p.String()] = p.text
	}
	read := must.Get(readInventory(string(must.Get(os.ReadFile(inventoryFile))(t))))(t)
	r := newReader(t)
	own := strings.NewReplacer(
		"https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com", `"$TABARD_ISSUER_URL"`,
		"awslocal --dir ./aws &", fmt.Sprintf("awslocal --dir ./aws --listen 127.0.0.1:%d &", testkit.FreePort(t)),
	)
	for _, world := range worlds {
		ok := t.Run(world, func(t *testing.T) {
			script := string(must.Get(os.ReadFile(filepath.Join("testdata", "worlds", world+".sh")))(t))
			typed := ""
			listed := read.typed["test/docs TestCommandLineTheExamplesOfHelp/"+world]
			if len(listed) == 0 {
				t.Fatalf("the inventory lists no example for the world %s", world)
			}
			for _, entry := range listed {
				if _, err := exec.LookPath("jq"); err != nil && strings.Contains(texts[entry], "| jq ") {
					t.Logf("not typed, because this machine has no jq: %s", texts[entry])
					continue
				}
				typed += "echo \"> \"" + quoted(texts[entry]) + "\n" + own.Replace(texts[entry])
				if slices.ContainsFunc(finding, func(begin string) bool { return strings.HasPrefix(texts[entry], begin) }) {
					typed += " && exit 99 || [ $? = 1 ]"
				}
				typed += "\n"
			}
			t.Log(r.follow(t, world, script+typed+typed))
		})
		if !ok {
			t.FailNow() // the later worlds build on this one
		}
	}
}

// finding are the beginnings of the examples that exit with 1 in their world, where
// something waits, for one.
var finding = []string{
	"tabard credentials list",
	"tabard migrate carm verify --controllers-file migration/controllers.yaml -o json",
	"tabard issuer unregister https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com --without-cluster", // it has no terminal to ask at
	"tabard hub unbootstrap --without-cluster",                                                        // its hub is not in the lab's account
	"tabard hub status cluster1",                                                                      // nobody has accepted it
}

// quoted is a text as one word of a shell's command.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
