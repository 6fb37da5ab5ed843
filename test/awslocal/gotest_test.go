package awslocal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// blocks are the fenced blocks of a page with a mark.
func blocks(page, mark string) (found []string) {
	for _, match := range regexp.MustCompile("(?ms)^```"+mark+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		found = append(found, match[1])
	}
	return found
}

// TestThePageForGoTestsShowsTheExample compares the page's code with the file that runs.
func TestThePageForGoTestsShowsTheExample(t *testing.T) {
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "lab-in-your-tests.md")))(t))
	file := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "examples", "go-test", "example_test.go")))(t))
	code := blocks(page, "go")
	if len(code) != 3 {
		t.Errorf("the page has %d blocks of Go, want 3", len(code))
	}
	for _, block := range code {
		if !strings.Contains(file, block) {
			t.Errorf("the example has no such lines:\n%s", block)
		}
	}
}

// TestThePagesCommandsPutTheLocalAWSIntoAModule types the page's commands in a new module,
// with the versions of this checkout and without a network.
func TestThePagesCommandsPutTheLocalAWSIntoAModule(t *testing.T) {
	root, dir := testkit.Root(), t.TempDir()
	page := string(must.Get(os.ReadFile(filepath.Join(root, "docs", "lab-in-your-tests.md")))(t))
	commands := blocks(page, "sh")
	if len(commands) != 1 {
		t.Fatalf("the page has %d blocks of commands, want 1", len(commands))
	}
	mod := string(must.Get(os.ReadFile(filepath.Join(root, "go.mod")))(t))
	required := regexp.MustCompile(`(?m)^\tgithub\.com/(aws|go-jose)/\S+ v\S+`).FindAllString(mod, -1)
	mod = "module example.com/mine\n\ngo 1.26.0\n\nrequire (\n" + strings.Join(required, "\n") + "\n)\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.sum"), must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(t), 0o600))
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands[0]+commands[0])
	shell.Dir = dir
	shell.Env = append(os.Environ(), "TABARD="+root, "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
	output, err := shell.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: Example") {
		t.Errorf("%v\n%s", err, output)
	}
}
