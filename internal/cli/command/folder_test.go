package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var someFiles = map[string][]byte{"a": []byte("first"), "below/b": []byte("second")}

// below are the texts of all files below a folder, and where its links lead to.
func below(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := must.Get(filepath.Rel(folder, path))(t)
		switch entry.Type() {
		case 0:
			out[name] = string(must.Get(os.ReadFile(path))(t))
		case fs.ModeSymlink:
			out[name] = "to " + must.Get(os.Readlink(path))(t)
		default:
			out[name] = entry.Type().String()
		}
		return nil
	}))
	return out
}

func TestAFolderIsWrittenOnce(t *testing.T) {
	want := map[string]string{"a": "first", "below/b": "second"}
	for name, folder := range map[string]func(dir string) string{
		"a new folder":             func(dir string) string { return filepath.Join(dir, "new", "folder") },
		"an empty one":             func(dir string) string { return dir },
		"one with an empty folder": func(dir string) string { must.Do(t, os.Mkdir(filepath.Join(dir, "below"), 0o700)); return dir },
		"a link to a folder": func(dir string) string {
			must.Do(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
			must.Do(t, os.Symlink("folder", filepath.Join(dir, "link")))
			return filepath.Join(dir, "link")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := File{By: "--flag", Path: folder(t.TempDir()), Expected: "an empty folder"}
			for range 2 {
				must.Do(t, f.WriteFolder(someFiles))
				if diff := cmp.Diff(want, below(t, must.Get(filepath.EvalSymlinks(f.Path))(t))); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestAFolderWithSomethingElseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, folder, outside string)
		says  string
	}{
		"another file": {func(t *testing.T, folder, _ string) { must.Do(t, os.WriteFile(filepath.Join(folder, "c"), nil, 0o600)) }, "c is not what this run writes"},
		"another text": {func(t *testing.T, folder, _ string) { must.Do(t, os.WriteFile(filepath.Join(folder, "a"), nil, 0o600)) }, "a is not what this run writes"},
		"a part": {func(t *testing.T, folder, _ string) {
			must.Do(t, os.WriteFile(filepath.Join(folder, "a"), someFiles["a"], 0o600))
		}, "holds 1 of the 2 files"},
		"a dangling link": {func(t *testing.T, folder, outside string) {
			must.Do(t, os.Symlink(filepath.Join(outside, "absent"), filepath.Join(folder, "a")))
		}, "a is a link or no regular file"},
		"a link to a file": {func(t *testing.T, folder, outside string) {
			must.Do(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(folder, "a")))
		}, "a is a link or no regular file"},
		"a link to a folder": {func(t *testing.T, folder, outside string) {
			must.Do(t, os.Symlink(outside, filepath.Join(folder, "below")))
		}, "below is a link or no regular file"},
		"a link within": {func(t *testing.T, folder, _ string) { must.Do(t, os.Symlink("b", filepath.Join(folder, "a"))) }, "a is a link or no regular file"},
		"a named pipe":  {func(t *testing.T, folder, _ string) { must.Do(t, syscall.Mkfifo(filepath.Join(folder, "a"), 0o600)) }, "a is a link or no regular file"},
		"links to all files": {func(t *testing.T, folder, outside string) {
			must.Do(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(folder, "a")))
			must.Do(t, os.Mkdir(filepath.Join(folder, "below"), 0o700))
			must.Do(t, os.WriteFile(filepath.Join(outside, "second"), someFiles["below/b"], 0o600))
			must.Do(t, os.Symlink(filepath.Join(outside, "second"), filepath.Join(folder, "below", "b")))
		}, "a is a link or no regular file"},
		"a folder in place of a file": {func(t *testing.T, folder, _ string) { must.Do(t, os.Mkdir(filepath.Join(folder, "a"), 0o700)) }, "file exists"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, outside := t.TempDir(), t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(outside, "file"), someFiles["a"], 0o600))
			c.spoil(t, folder, outside)
			before := [2]map[string]string{below(t, folder), below(t, outside)}
			err := File{By: "--flag", Path: folder, Expected: "an empty folder"}.WriteFolder(someFiles)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "--flag is ") {
				t.Errorf("%v, want one that says %q", err, c.says)
			}
			if diff := cmp.Diff(before, [2]map[string]string{below(t, folder), below(t, outside)}); diff != "" {
				t.Errorf("it was written (-before +after):\n%s", diff)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	dangling := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink("absent", dangling))
	for _, path := range []string{file, filepath.Join(file, "below"), dangling} {
		if err := (File{By: "--flag", Path: path}).WriteFolder(someFiles); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAFileThatLeadsOutOfTheFolderIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := (File{By: "--flag", Path: folder}).WriteFolder(map[string][]byte{"../out": nil}); err == nil {
		t.Error("it was written")
	}
	if got := below(t, dir); len(got) > 0 {
		t.Errorf("%v", got)
	}
}
