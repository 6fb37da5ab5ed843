package picture_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/e2e/picture"
)

// TestTheReadmeShowsWhatExplainPrints: as the page does, whose output a test of internal/cli/explain
// compares with what the command prints.
func TestTheReadmeShowsWhatExplainPrints(t *testing.T) {
	const path, command = "../../../docs/images/explain.svg", "tabard explain pod checkout-6d9c -n shop"
	page := string(must.Get(os.ReadFile("../../../docs/explain.md"))(t))
	_, rest, typed := strings.Cut(page, "```sh\n"+command+"\n")
	_, rest, shown := strings.Cut(rest, "```text\n")
	printed, _, _ := strings.Cut(rest, "```\n")
	if !typed || !shown {
		t.Fatal("docs/explain.md does not begin with the command and what it prints")
	}
	drawn := picture.Explain(command, printed)
	if *update {
		must.Do(t, os.WriteFile(path, []byte(drawn), 0o644)) //nolint:gosec // everybody may see it
	}
	if diff := cmp.Diff(string(must.Get(os.ReadFile(path))(t)), drawn); diff != "" {
		t.Errorf("docs/images/explain.svg shows another output than docs/explain.md (-picture +page); go test ./test/e2e/picture -run Readme -update draws it anew:\n%s", diff)
	}
	for _, part := range []string{"✗ L9", "mend:", "aws iam update-assume-role-policy"} {
		if !strings.Contains(drawn, part) {
			t.Errorf("the picture does not show %q", part)
		}
	}
}
