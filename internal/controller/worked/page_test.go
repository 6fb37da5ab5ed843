package worked_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestThePageShowsTheWorkedExample: what docs/development.md quotes is what is tested.
func TestThePageShowsTheWorkedExample(t *testing.T) {
	page := must.Get(os.ReadFile("../../../docs/development.md"))(t)
	files := must.Get(filepath.Glob("../../*/worked/*.go"))(t)
	var code strings.Builder
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
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
