package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// root is that of the checkout.
const root = "../.."

// What make test leaves out, make long runs: nothing is left to nobody.
func TestMakeLongRunsWhatMakeTestLeavesOut(t *testing.T) {
	var modules []string
	for name, target := range targets {
		for _, path := range slices.Concat(target.all(), target.modules, target.folders) {
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(path, "/..."))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if target.long != nil {
			modules = append(modules, target.modules...)
		}
	}
	slices.Sort(modules)
	makefile := string(must.Get(os.ReadFile(filepath.Join(root, "Makefile")))(t))
	found := regexp.MustCompile(`(?m)^LONG := (.*)$`).FindStringSubmatch(makefile)
	if diff := cmp.Diff(modules, strings.Fields(found[1])); diff != "" {
		t.Errorf("modules of the targets, and LONG in the Makefile (-want +got):\n%s", diff)
	}
}

// The inputs of a target are found: of packages, and of modules alone. The packages of all
// targets are listed at once.
func TestTheInputsOfATargetAreFound(t *testing.T) {
	t.Chdir(root)
	var packages []string
	for name, target := range targets {
		if len(target.all())+len(target.modules) == 0 {
			t.Errorf("%s has neither packages nor modules", name)
		}
		packages = append(packages, target.all()...)
	}
	must.Get(sources(t.Context(), must.Get(os.Getwd())(t), ".", packages, nil))(t)
	for name, file := range map[string]string{"ack": "test/roleselector/ackruntime", "oldmodules": "test/oldmodules/go.mod"} {
		files := must.Get(inputs(t.Context(), targets[name]))(t)
		if !slices.ContainsFunc(files, func(found string) bool { return strings.HasPrefix(filepath.ToSlash(found), file) }) {
			t.Errorf("%s has the inputs %q, want %s among them", name, files, file)
		}
	}
}

// Packages with a test named TestLong are in a target that runs it.
func TestEachLongTestIsInATarget(t *testing.T) {
	var run []string
	for _, target := range targets {
		if target.long != nil {
			run = append(run, target.long.packages...)
		}
	}
	for path, folder := range filesWith(t, "TestLong") {
		if !slices.Contains(run, "./"+folder) {
			t.Errorf("%s has a test that no target runs", path)
		}
	}
}

// filesWith are the files that have a test whose name begins so, with their folders below the root.
func filesWith(t *testing.T, name string) map[string]string {
	t.Helper()
	test, found := regexp.MustCompile(`(?m)^func `+name), map[string]string{}
	must.Do(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") && test.Match(must.Get(os.ReadFile(path))(t)) {
			found[path] = filepath.ToSlash(must.Get(filepath.Rel(root, filepath.Dir(path)))(t))
		}
		return err
	}))
	if len(found) == 0 {
		t.Errorf("no file has a test %s", name)
	}
	return found
}

func TestArgumentsOfALongTarget(t *testing.T) {
	some := map[string]target{
		"a": {long: &long{packages: []string{"./a", "./b"}, measured: true}},
		"b": {long: &long{packages: []string{"./c"}, named: true}},
		"c": {modules: []string{"m/n"}, long: &long{}},
		"d": {packages: []string{"./d"}},
	}
	for args, want := range map[string]string{
		"long": "a b c", "without": "./a,./b",
		"suite a": "--parallel 1 --packages ./a,./b .", "suite b": "--run ^TestLong --packages ./c .", "suite c": "m/n",
	} {
		var out strings.Builder
		if code, err := run(t.Context(), some, strings.Fields(args), &out); code != 0 || err != nil {
			t.Errorf("ring %s: exit code %d and error %v", args, code, err)
		}
		if diff := cmp.Diff(want+"\n", out.String()); diff != "" {
			t.Errorf("ring %s: %s", args, diff)
		}
	}
	if code, err := run(t.Context(), some, []string{"suite", "d"}, &strings.Builder{}); code != 2 || err == nil {
		t.Errorf("a target of make's: exit code %d and error %v, want 2 and an error", code, err)
	}
}

// TestConformanceHasEachPackageOfItsTests: make conformance finds them by the names of their tests.
func TestConformanceHasEachPackageOfItsTests(t *testing.T) {
	of := targets["conformance"]
	for path, folder := range filesWith(t, "Test(CommandLine|JavaScript|Python)") {
		if !slices.Contains(of.modules, folder) && !slices.ContainsFunc(of.packages, func(pattern string) bool {
			tree, below := strings.CutSuffix(pattern, "/...")
			return "./"+folder == tree || below && strings.HasPrefix("./"+folder, tree+"/")
		}) {
			t.Errorf("%s has a test that make conformance runs, and the folder is no input of it", path)
		}
	}
}
