package roleselectordocs

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/roleselector"
)

// TestThePagesFlags finds the library's flags in the page's table, each once and no
// others, and starts with the flags that the page gives for several teams.
func TestThePagesFlags(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(testkit.Root(), "docs", "role-selectors.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Flags of controllers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var told, real []string
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		told = append(told, row[1])
	}
	var options roleselector.Options
	var settings roleselector.Settings
	set := flag.NewFlagSet("controller", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, one := range roleselector.Flags(&options, &settings) {
		real = append(real, one.Name)
		set.Func(one.Name, one.Usage, one.Set)
	}
	slices.Sort(told)
	slices.Sort(real)
	if !slices.Equal(told, real) {
		t.Errorf("the page's table has the flags %q, the library %q", told, real)
	}
	set.String("iam-role-selector-cluster-id", "", "Tabard's own")
	examples := testkit.Blocks(section, "text")
	if len(examples) != 1 {
		t.Fatalf("the section has %d examples; the test knows one", len(examples))
	}
	if err := set.Parse(strings.Fields(examples[0])); err != nil {
		t.Fatal(err)
	}
	if problems := settings.Problems(); len(problems) > 0 || options.NoSelector != roleselector.PolicyDeny || len(settings.AllowedRoles) != 1 {
		t.Errorf("the page's flags say %+v and %+v, with the problems %v", options, settings, problems)
	}
}
