package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestLongQuickstart runs every command of docs/quickstart.md, in order, in one
// shell that stops at the first failure; then all of it again.
func TestLongQuickstart(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	for range 2 {
		r.follow(readPage(t, "quickstart.md"))
	}
}

// reader does what a page says, with a lab of their own.
type reader struct {
	t   *testing.T
	dir string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{t, t.TempDir()}
	t.Cleanup(func() {
		down := exec.CommandContext(context.WithoutCancel(t.Context()), "bin/tabard", "lab", "down", "--dir", r.dir)
		down.Dir = root
		if out, err := down.CombinedOutput(); err != nil {
			t.Errorf("take the lab down: %v\n%s", err, out)
		}
	})
	return r
}

// follow runs the commands of a page, or of a part of it, and returns what they
// print.
func (r *reader) follow(page string) string {
	r.t.Helper()
	shell := exec.CommandContext(r.t.Context(), "bash", "-euo", "pipefail", "-c", shellBlocks(page))
	shell.Dir, shell.Env = root, append(os.Environ(), "LAB="+r.dir)
	out, err := shell.CombinedOutput()
	r.t.Logf("%s", out)
	if err != nil {
		r.t.Fatalf("the page's commands failed: %v", err)
	}
	return string(out)
}

// readPage reads a page of docs that consists of commands.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(root, "docs", name)))(t)
	if strings.Count(shellBlocks(string(text)), "\n") < 10 {
		t.Fatalf("docs/%s holds hardly any commands:\n%s", name, text)
	}
	return string(text)
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
