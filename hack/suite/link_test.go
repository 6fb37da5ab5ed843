package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestCallsOfTheLinker(t *testing.T) {
	args := []string{"-o", "/tmp/b001/p.test", "-importcfg", "/tmp/b001/importcfg.link", "-buildid=a/b/c/a", "/tmp/b001/_pkg_.a"}
	for name, c := range map[string]struct {
		importPath, tool string
		args             []string
		want             link
	}{
		"a test program":           {"example.com/p.test", "/go/pkg/tool/linux_amd64/link", args, link{"example.com/p.test", "a/b/c/a", "/tmp/b001/p.test"}},
		"on Windows":               {"example.com/p.test", "/go/pkg/tool/windows_amd64/link.exe", args, link{"example.com/p.test", "a/b/c/a", "/tmp/b001/p.test"}},
		"a program of the product": {"example.com/cmd/p", "/go/pkg/tool/linux_amd64/link", args, link{}},
		"the compiler":             {"example.com/p.test", "/go/pkg/tool/linux_amd64/compile", args, link{}},
		"the linker's version":     {"example.com/p.test", "/go/pkg/tool/linux_amd64/link", []string{"-V=full"}, link{}},
		"a flag without its value": {"example.com/p.test", "/go/pkg/tool/linux_amd64/link", []string{"-buildid=a", "-o"}, link{}},
	} {
		got, is := linkOf(c.importPath, c.tool, c.args)
		if want := c.want != (link{}); is != want || is && got != c.want {
			t.Errorf("%s: got %v %+v, want %v %+v", name, is, got, want, c.want)
		}
	}
}

// TestWhatIsAsBeforeIsNotLinkedAgain, whatever the folder is called, and of each package
// the last program alone is kept.
func TestWhatIsAsBeforeIsNotLinkedAgain(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "a [folder of 10'' programs")
	dir := moduleOf(t, map[string]string{
		"p_test.go": "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
	})
	runs := func(want int, args ...string) os.FileInfo {
		t.Helper()
		var out strings.Builder
		if code, err := run(t.Context(), append(args, "--keep", kept, "--count", "1", dir), &out); code != want || err != nil {
			t.Fatalf("got exit code %d and error %v, want %d and none:\n%s", code, err, want, out.String())
		}
		found := must.Get(os.ReadDir(kept))(t)
		if len(found) != 1 || !strings.HasPrefix(found[0].Name(), "example.com+m.test@") {
			t.Fatalf("kept are %q, want one file of example.com+m.test", found)
		}
		return must.Get(found[0].Info())(t)
	}
	first := runs(0)
	if second := runs(0, "--cpu"); !os.SameFile(first, second) {
		t.Error("it was linked again though nothing has changed")
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Fail() }\n"), 0o600))
	if third := runs(1); os.SameFile(first, third) {
		t.Error("what is kept is not the last")
	}
}
