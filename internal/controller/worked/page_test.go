package worked_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestThePageShowsTheWorkedExample: what docs/development.md quotes is what is tested.
func TestThePageShowsTheWorkedExample(t *testing.T) {
	page, err := os.ReadFile("../../../docs/development.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	quoted := testkit.Blocks(string(page), "go")
	if len(quoted) != 3 {
		t.Fatalf("the page quotes %d pieces of code, want the decision, the shell and the fuzz test", len(quoted))
	}
	for _, block := range quoted {
		if !strings.Contains(code.String(), block+"\n") {
			t.Errorf("the page quotes what is not in the worked example:\n%s", block)
		}
	}
}
