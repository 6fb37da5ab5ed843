package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// A target is due until it has passed, and again whenever one of its inputs has
// changed; what is none of its inputs does not make it due.
func TestATargetIsDueWhenAnInputHasChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, text string) {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("go.mod", "module example.com/m\n\ngo 1.25.0\n")
	write("tested/tested.go", "package tested\n\nimport _ \"example.com/m/imported\"\n")
	write("tested/tested_test.go", "package tested\n")
	write("tested/outer_test.go", "package tested_test\n")
	write("imported/imported.go", "package imported\n\nimport _ \"embed\"\n\n//go:embed text\nvar Text string\n")
	write("imported/text", "1")
	write("imported/imported_test.go", "package imported\n")
	write("other/other.go", "package other\n")
	write("config/manifest.yaml", "a: 1")
	targets := map[string]target{"heavy": {packages: []string{"./tested"}, folders: []string{"config"}}}
	command := func(verb string) int {
		t.Helper()
		code := must.Get(run(t.Context(), targets, []string{verb, "heavy"}, io.Discard))(t)
		return code
	}
	isDue := func() bool { return command("unchanged") == 1 }
	if !isDue() {
		t.Error("a target that never passed is left out")
	}
	if command("passed"); isDue() {
		t.Error("a target that has passed is due")
	}
	for _, path := range []string{"other/other.go", "imported/imported_test.go", "README.md"} {
		before, _ := os.ReadFile(path)
		write(path, string(before)+"\n")
	}
	if isDue() {
		t.Error("what is no input has changed, and the target is due")
	}
	for _, path := range []string{"imported/text", "config/new.yaml"} {
		if write(path, "2"); !isDue() {
			t.Errorf("%s has changed, and the target is left out", path)
		}
		command("passed")
	}
	want := []string{"config/manifest.yaml", "config/new.yaml", "go.mod", "go.sum", "imported/imported.go", "imported/text", "tested/outer_test.go", "tested/tested.go", "tested/tested_test.go"}
	files := must.Get(inputs(t.Context(), targets["heavy"]))(t)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	eachFileCounts(t, files, write)
}

// eachFileCounts demands another digest for a change of each file, of one that is made too.
func eachFileCounts(t *testing.T, files []string, write func(path, text string)) {
	t.Helper()
	now := func() string { return must.Get(digest(os.DirFS("."), files, "go1"))(t) }
	for _, path := range files {
		last := now()
		before, _ := os.ReadFile(path)
		if write(path, string(before)+"\n"); now() == last {
			t.Errorf("%s has changed, and the digest is the same", path)
		}
	}
}

func TestUnusableArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"unchanged"}, {"run", "e2e-node"}, {"unchanged", "nothing"}, {"unchanged", "e2e-node", "more"}} {
		if code, err := run(t.Context(), targets, args, io.Discard); code != 2 || err == nil {
			t.Errorf("%q: exit code %d, %v; want 2 and an error", args, code, err)
		}
	}
}
