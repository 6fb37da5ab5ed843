package ekstoken

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTheProgramIsCopiedWhole(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program, path := filepath.Join(folder, "program"), filepath.Join(folder, "volume", "dist", "aws")
	for _, content := range []string{"first", "second, and longer"} {
		must.Do(t, os.WriteFile(program, []byte(content), 0o500))
		must.Do(t, copyProgram(program, path))
		got := must.Get(os.ReadFile(path))(t)
		if mode := must.Get(os.Stat(path))(t).Mode(); string(got) != content || mode != 0o755 {
			t.Errorf("got %q, %s", got, mode)
		}
		must.Do(t, os.Remove(program))
	}
	if entries := must.Get(os.ReadDir(filepath.Dir(path)))(t); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}

func TestNothingButAFileIsReplaced(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	must.Do(t, os.WriteFile(path("program"), []byte("program"), 0o500))
	must.Do(t, os.WriteFile(path("precious"), []byte("precious"), 0o600))
	must.Do(t, os.Mkdir(path("folder"), 0o700))
	must.Do(t, os.Symlink(path("precious"), path("link")))
	must.Do(t, os.Symlink(path("nowhere"), path("dangling")))
	for name, want := range map[string]string{
		"folder": "is a folder", "link": "is a symbolic link", "dangling": "is a symbolic link", "precious/below": "not a directory",
	} {
		if err := copyProgram(path("program"), path(name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if got := must.Get(os.ReadFile(path("precious")))(t); string(got) != "precious" {
		t.Errorf("the target of the link is %q", got)
	}
	if entries := must.Get(os.ReadDir(folder))(t); len(entries) != 5 {
		t.Errorf("the folder has %v", entries)
	}
}
