package api

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// TestThePagesFlags finds the library's flags in the page's table, each once and no
// others, and starts with the flags that the page gives for several teams.
func TestThePagesFlags(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "role-selectors.md")))(t)
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
	must.Do(t, set.Parse(strings.Fields(examples[0])))
	if problems := settings.Problems(); len(problems) > 0 || options.NoSelector != roleselector.PolicyDeny || len(settings.AllowedRoles) != 1 {
		t.Errorf("the page's flags say %+v and %+v, with the problems %v", options, settings, problems)
	}
}

// TestFlagsAreTheSameInBothLibraries, the standard library's flag and pflag, and all take
// the examples that their errors give.
func TestFlagsAreTheSameInBothLibraries(t *testing.T) {
	var options roleselector.Options
	var settings roleselector.Settings
	one, other := flag.NewFlagSet("", flag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, f := range roleselector.Flags(&options, &settings) {
		one.Func(f.Name, f.Usage, f.Set)
		other.Func(f.Name, f.Usage, f.Set)
		named, _ := flag.UnquoteUsage(one.Lookup(f.Name))
		if alike, _ := pflag.UnquoteUsage(other.Lookup(f.Name)); named != alike || named == "value" || named == "func" {
			t.Errorf("the value of --%s is %q in one and %q in the other, want one name", f.Name, named, alike)
		}
		empty := f.Set("")
		if empty == nil {
			t.Fatalf("--%s takes an empty value", f.Name)
		}
		_, example, _ := strings.Cut(empty.Error(), "leave the flag out, or write ")
		if example == "" {
			t.Errorf("--%s has no example", f.Name)
			continue
		}
		if err := other.Parse([]string{"--" + f.Name + "=" + example}); err != nil {
			t.Errorf("the example of --%s is refused: %v", f.Name, err)
		}
	}
	if problems := settings.Problems(); len(problems) > 0 || settings.ExternalID == "" || settings.SessionName == "" || len(settings.SessionTags) != 2 ||
		settings.SessionLimit != 1000 || len(settings.Locked) != 2 || len(settings.AllowedRoles) != 1 || len(settings.ProtectedLabels) != 1 ||
		options.NoSelector != roleselector.PolicyDeny {
		t.Errorf("all examples together are %+v and %+v, with the problems %v", options, settings, problems)
	}
}
