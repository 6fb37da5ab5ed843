package gobuild

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestKeyChangesWithEverySource(t *testing.T) {
	program := Cached{Name: "program", Version: "v1.2.3", Source: t.TempDir()}
	if _, err := program.Key(); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("an empty folder: got %v, want a missing file", err)
	}
	for _, name := range Sources {
		must.Do(t, os.WriteFile(filepath.Join(program.Source, name), []byte("x"), 0o644))
	}
	first, err := program.Key()
	if err != nil || !strings.HasPrefix(first, "v1.2.3-") || len(first) != len("v1.2.3-")+12 {
		t.Fatalf("got %q, %v", first, err)
	}
	for _, name := range Sources {
		must.Do(t, os.WriteFile(filepath.Join(program.Source, name), []byte("changed"), 0o644))
		next, err := program.Key()
		if err != nil || next == first {
			t.Errorf("%s changed and the key stayed %q (%v)", name, next, err)
		}
		first = next
	}
}

// TestAPackageOfARequiredModuleIsBuilt has a module that only names what it builds.
func TestAPackageOfARequiredModuleIsBuilt(t *testing.T) {
	required := t.TempDir()
	program := Cached{Name: "program", Version: "v1.2.3", Source: t.TempDir(), Package: "example.com/required/cmd", Cache: t.TempDir(), Started: "building"}
	must.Do(t, os.Mkdir(filepath.Join(required, "cmd"), 0o755))
	for path, text := range map[string]string{
		filepath.Join(required, "go.mod"):         "module example.com/required\n\ngo 1.26\n",
		filepath.Join(required, "cmd", "main.go"): "package main\n\nfunc main() {}\n",
		filepath.Join(program.Source, "go.sum"):   "",
		filepath.Join(program.Source, "go.mod"): "module example.com/program\n\ngo 1.26\n\ntool example.com/required/cmd\n\n" +
			"require example.com/required v1.2.3\n\nreplace example.com/required => " + required + "\n",
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	var said bytes.Buffer
	if path, err := program.ensure(t.Context(), &said); err != nil || !exists(path) {
		t.Errorf("%s, %v: %s", path, err, said.String())
	}
}

func TestAProgramIsBuiltOncePerVersion(t *testing.T) {
	program := Cached{Name: "program", Version: "v1.2.3", Source: t.TempDir(), Cache: t.TempDir(), Started: "building"}
	for name, text := range map[string]string{
		"go.mod": "module example.com/program\n\ngo 1.26\n", "go.sum": "", "main.go": "package main\n\nfunc main() {}\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(program.Source, name), []byte(text), 0o644))
	}
	var said bytes.Buffer
	first := must.Get(program.ensure(t.Context(), &said))(t)
	if !strings.Contains(said.String(), "program: building") {
		t.Errorf("the first time said %q", said.String())
	}
	said.Reset()
	if second := must.Get(program.ensure(t.Context(), &said))(t); second != first || said.Len() > 0 {
		t.Errorf("the second time: %s, want %s, and said %q", second, first, said.String())
	}
	must.Do(t, os.WriteFile(filepath.Join(program.Source, "main.go"), []byte("package main\n\nfunc main() { wrong() }\n"), 0o644))
	if path, err := program.ensure(t.Context(), &said); err == nil {
		t.Fatalf("a program that cannot be compiled was built: %s", path)
	}
	key := must.Get(program.Key())(t)
	if exists(filepath.Join(program.Cache, key, "program")) {
		t.Error("what looks like a program is left by a build that failed")
	}
}
