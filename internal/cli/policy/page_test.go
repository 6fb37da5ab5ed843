package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) {
	os.Exit(testkit.RunAsProgram(m, func(args []string) error {
		policy := New(command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		policy.SetArgs(args[1:]) // "policy …"
		return policy.Execute()
	}))
}

// block is a fenced block of a page.
type block struct{ language, text string }

// blocks returns the fenced blocks of a page in their order.
func blocks(page string) []block {
	var all []block
	inside := false
	for line := range strings.Lines(page) {
		language, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case fence && !inside:
			all, inside = append(all, block{language: language}), true
		case fence:
			inside = false
		case inside:
			all[len(all)-1].text += line
		}
	}
	return all
}

// shell runs a block in a folder, and returns what it prints on its output.
func shell(t *testing.T, folder, script string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	command.Dir = folder
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s%s%s", err, script, out.String(), errOut.String())
	}
	return out.String()
}

// TestThePageSaysWhatTheCommandsDo runs the page's commands in order; the block
// behind one is what it prints, JSON however it is laid out.
func TestThePageSaysWhatTheCommandsDo(t *testing.T) {
	page := must.Get(os.ReadFile("../../../docs/policy.md"))(t)
	folder := testkit.LinkSelf(t, "tabard")
	printed, compared := "", 0
	for _, b := range slices.Repeat(blocks(string(page)), 2) {
		switch b.language {
		case "sh":
			printed = shell(t, folder, b.text)
		case "text":
			compared++
			if printed != b.text {
				t.Errorf("printed:\n%s\nthe page says:\n%s", printed, b.text)
			}
		case "json":
			compared++
			if !equalJSON(t, printed, b.text) {
				t.Errorf("printed:\n%s\nthe page says:\n%s", printed, b.text)
			}
		}
	}
	if compared < 8 {
		t.Errorf("only %d outputs are on the page", compared)
	}
}

// TestThePageHasEachRule compares the page's table with the rules of the linter.
func TestThePageHasEachRule(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../../docs/policy.md"))(t))
	_, table, _ := strings.Cut(page, "| Code | Severity | Mistake |\n| --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, rule := range iampolicy.LintRules() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s |", rule.Code, rule.Severity, rule.Text))
	}
	if diff := cmp.Diff(want, strings.Split(table, "\n")); diff != "" {
		t.Errorf("the page's table (-want +got):\n%s", diff)
	}
}

// equalJSON compares two documents by what they hold.
func equalJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var left, right any
	if err := errors.Join(json.Unmarshal([]byte(a), &left), json.Unmarshal([]byte(b), &right)); err != nil {
		t.Fatalf("%v in\n%s\nor\n%s", err, a, b)
	}
	return reflect.DeepEqual(left, right)
}

// TestThePageShowsTheLibrarysExample compares the page's Go with the example that
// iampolicy's tests run.
func TestThePageShowsTheLibrarysExample(t *testing.T) {
	page := must.Get(os.ReadFile("../../../docs/policy.md"))(t)
	examples := must.Get(os.ReadFile("../../../iampolicy/example_test.go"))(t)
	found := false
	for _, b := range blocks(string(page)) {
		if b.language != "go" {
			continue
		}
		found = true
		if !strings.Contains(strings.ReplaceAll(string(examples), "\n\t", "\n"), b.text) {
			t.Errorf("no example has these lines:\n%s", b.text)
		}
	}
	if !found {
		t.Error("the page has no Go")
	}
}
