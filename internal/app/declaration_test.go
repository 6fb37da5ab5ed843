package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestASixthControllerIsDeclaredInOnePlace: its flags, its line of help, its lease and
// its choice follow from what its file says and its name in the list; its rights from
// its folder.
func TestASixthControllerIsDeclaredInOnePlace(t *testing.T) {
	before := controllers
	t.Cleanup(func() { controllers = before })
	var words string
	controllers = append(slices.Clone(before), func() *declaration {
		return &declaration{
			name: "sixth", does: "does what nobody else does", off: true, selected: true, predecessors: []string{"fifth-leader"},
			flags: func(flags *pflag.FlagSet, prefix string) {
				flags.StringVar(&words, prefix+"words", "", "what it says")
			},
			complete: func() error {
				if words == "none" {
					return os.ErrInvalid
				}
				return nil
			},
		}
	})
	args := []string{"operator", "--controllers=sixth,issuer", "--sixth-words=some", "--feature-gates=IAMRoleSelector=true", "--iam-role-selector-controllers=sixth"}
	want := []string{"tabard-operator-issuer-sixth", "tabard-operator-issuer", "fifth-leader", "tabard-operator-sixth"}
	if diff := cmp.Diff(want, leasesOf(t, args)); diff != "" || words != "some" {
		t.Errorf("it is told %q; leases (-want +got):\n%s", words, diff)
	}
	inHelp := regexp.MustCompile(`\n  sixth +does what nobody else does\n +\(off by default`)
	if help := operatorCommand().Long; !inHelp.MatchString(help) {
		t.Errorf("the help has no line for it:\n%s", help)
	}
	var flags operatorFlags
	parsed := pflag.NewFlagSet("operator", pflag.ContinueOnError)
	flags.add(parsed)
	must.Do(t, parsed.Parse([]string{"--sixth-words=none"}))
	if _, err := flags.complete(); err == nil {
		t.Error("what it refuses is not refused")
	}
}

// TestRightsAreMadeOfFolders: make generate writes config/rbac for each folder with a
// controller, also for one that it has never seen.
func TestRightsAreMadeOfFolders(t *testing.T) {
	text := must.Get(os.ReadFile("../../Makefile"))(t)
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"Makefile": text, "internal/controller/sixth/controller.go": nil, "internal/controller/example/example_test.go": nil,
	} {
		path := filepath.Join(folder, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, content, 0o600))
	}
	dry := exec.CommandContext(t.Context(), "make", "--dry-run", "generate")
	dry.Dir = folder
	out, err := dry.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "for name in sixth; do") {
		t.Errorf("%v: make generate does not know it:\n%s", err, out)
	}
}

// TestControllersAreTheirFolders: each controller that is declared has its folder and
// its rights, and no folder with a controller is undeclared.
func TestControllersAreTheirFolders(t *testing.T) {
	known, _ := controllerNames()
	for pattern, cut := range map[string]func(string) string{
		"../../internal/controller/*/controller.go": func(path string) string { return filepath.Base(filepath.Dir(path)) },
		"../../config/rbac/*.yaml":                  func(path string) string { return strings.TrimSuffix(filepath.Base(path), ".yaml") },
	} {
		found := must.Get(filepath.Glob(pattern))(t)
		var names []string
		for _, path := range found {
			if name := cut(path); name != "webhook" && name != "ocm" { // no controllers
				names = append(names, name)
			}
		}
		if diff := cmp.Diff(known, names); diff != "" {
			t.Errorf("%s and the controllers (-declared +found):\n%s", pattern, diff)
		}
	}
	if !slices.IsSorted(known) {
		t.Errorf("controllers are not sorted: %v", known)
	}
}
