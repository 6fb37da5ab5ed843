package scenario_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/lab/scenario"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestScenarios: each has a name and a title of its own, and a finding that there is. The pages say how
// many there are. That each is found and mended is what test/e2e tests.
func TestScenarios(t *testing.T) {
	known := map[string]bool{}
	for _, each := range scenario.All() {
		if known[each.Name] || known[each.Title] || each.Title == "" || !strings.HasPrefix(each.Name, "p") {
			t.Errorf("%+v", each)
		}
		known[each.Name], known[each.Title] = true, true
		if !slices.ContainsFunc(chain.Codes(), func(e chain.Explanation) bool { return e.Code == each.Code }) {
			t.Errorf("%s: there is no code %s", each.Name, each.Code)
		}
		if found, err := scenario.Find(strings.ToUpper(each.Name)); err != nil || found.Title != each.Title {
			t.Errorf("%s is not found: %v", each.Name, err)
		}
	}
	for _, name := range []string{"p01", "p02", "p03", "p04", "p06", "p07", "p08", "p09", "p10", "p11", "p12", "p17", "p27"} {
		if !known[name] {
			t.Errorf("there is no scenario %s", name)
		}
	}
	if _, err := scenario.Find("p99"); err == nil || !strings.Contains(err.Error(), "there are p01, ") {
		t.Error(err)
	}
	for file, says := range map[string]string{"README.md": "%d broken workloads", "CHANGELOG.md": "in one of %d ways"} {
		text, want := string(must.Get(os.ReadFile("../../../"+file))(t)), fmt.Sprintf(says, len(scenario.All()))
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", file, want)
		}
	}
}
