package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// typedWords are what the commands of the reference begin with: the project's programs, those of its
// field, and words of the shell.
var typedWords = []string{
	"tabard", "tabard-webhook", "tabard-eks-token", "kubectl", "aws", "helm", "make", "sudo", "eval", "source", "echo", "chmod",
	"generate-cases", // stands for the reader's own program
}

var variable = regexp.MustCompile(`^[A-Z][A-Z_]*=\S* `)

// untyped are the lines of a block that are no command, no comment, and no part of either.
func untyped(block string) (found []string) {
	goesOn, end := false, ""
	for line := range strings.SplitSeq(block, "\n") {
		if end != "" {
			if line == end {
				end = ""
			}
			continue
		}
		word, _, _ := strings.Cut(variable.ReplaceAllString(line, ""), " ")
		if !goesOn && line != "" && !strings.HasPrefix(line, "#") && !slices.Contains(typedWords, word) {
			found = append(found, line)
		}
		goesOn = strings.HasSuffix(line, "\\")
		if _, after, is := strings.Cut(line, "<<"); is && !strings.HasPrefix(line, "#") {
			end = strings.Trim(strings.Fields(after)[0], `-'"`)
		}
	}
	return found
}

// TestBlocksOfTheReferenceCanBeTyped finds each block for a shell on the generated pages.
func TestBlocksOfTheReferenceCanBeTyped(t *testing.T) {
	count := 0
	must.Do(t, filepath.WalkDir(filepath.Join(testkit.Root(), "docs", "reference"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		for _, block := range testkit.Blocks(string(must.Get(os.ReadFile(path))(t)), "sh") {
			count++
			if lines := untyped(block); len(lines) > 0 {
				t.Errorf("%s: nobody can type %q", entry.Name(), lines)
			}
			if out, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", block).CombinedOutput(); err != nil {
				t.Errorf("%s: bash does not read\n%s\n%s", entry.Name(), block, out)
			}
		}
		return nil
	}))
	if count < 40 {
		t.Errorf("only %d blocks were found", count)
	}
}

func TestWhatCannotBeTypedIsFound(t *testing.T) {
	for block, want := range map[string]int{
		"tabard lab up": 0, "# a comment\ntabard x \\\n  --more\n": 0, "A_B=c tabard x": 0, "kubectl apply -f - <<'EOF'\na: b\nEOF\naws s3 ls": 0,
		"1. the role": 1, "hub  the ClusterManager": 1, "apiVersion: v1\nkind: X": 2, "tabard x\n  a word": 1,
	} {
		if got := untyped(block); len(got) != want {
			t.Errorf("%q has %q, want %d lines", block, got, want)
		}
	}
}
