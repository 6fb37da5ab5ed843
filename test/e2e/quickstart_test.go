package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuickstart runs every command of docs/quickstart.md, in order, in one
// shell that stops at the first failure.
func TestQuickstart(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "quickstart.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := shellBlocks(string(text))
	if strings.Count(script, "\n") < 10 {
		t.Fatalf("docs/quickstart.md holds hardly any commands: %q", script)
	}
	dir := t.TempDir()
	env := append(os.Environ(), "LAB="+dir)
	t.Cleanup(func() {
		down := exec.CommandContext(context.WithoutCancel(t.Context()), "bin/tabard", "lab", "down", "--dir", dir)
		down.Dir, down.Env = root, env
		if out, err := down.CombinedOutput(); err != nil {
			t.Errorf("take the lab down: %v\n%s", err, out)
		}
	})
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	shell.Dir, shell.Env = root, env
	out, err := shell.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("the quickstart's commands failed: %v", err)
	}
}

// shellBlocks joins the fenced blocks of a page that are marked sh.
func shellBlocks(page string) string {
	var script strings.Builder
	var inside bool
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case !inside && line == "```sh":
			inside = true
		case inside && strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			script.WriteString(line + "\n")
		}
	}
	return script.String()
}

func TestShellBlocks(t *testing.T) {
	page := "text\n```sh\nmake build\n```\nmore\n```yaml\nkind: X\n```\n```sh\ntrue\n```\n"
	if got, want := shellBlocks(page), "make build\ntrue\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
