package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const source = `package main

var version string

func main() { println(version) }
`

// checkout is a folder with a program's source.
func checkout(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/cloak\n\ngo 1.26.0\n", "main.go": text} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func buildIn(t *testing.T, folder, version string, platforms ...string) (archive []byte, said string, err error) {
	t.Helper()
	var progress bytes.Buffer
	i := Images{
		Compiler: Compiler{Source: folder, LinkerFlags: "-X main.version=devel", Progress: &progress},
		Program:  ".", Repository: "registry.example/cloak", Version: version, Revision: "4f1c0de", Platforms: platforms,
		Programs: filepath.Join(folder, "bin"), Archive: filepath.Join(folder, "bin", "cloak.tar"), Progress: &progress,
	}
	if _, err := i.Run(t.Context()); err != nil {
		return nil, progress.String(), err
	}
	archive, err = os.ReadFile(filepath.Join(folder, "bin", "cloak.tar"))
	return archive, progress.String(), err
}

func TestTwoCheckoutsOfOneSourceGiveTheSameArchive(t *testing.T) {
	first, said, err := buildIn(t, checkout(t, source), "devel", "linux/amd64", "linux/arm64")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	second, _, err := buildIn(t, checkout(t, source), "devel", "linux/amd64", "linux/arm64")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"bomFormat": "CycloneDX"`, `"gitCommit": "4f1c0de"`} {
		if got := bytes.Count(first, []byte(want)); got != 2 {
			t.Errorf("%s is %d times in the archive, want once for each platform", want, got)
		}
	}
	if !bytes.Equal(first, second) {
		t.Error("the archives differ")
	}
	for _, want := range []string{"linux/amd64 sha256:", "linux/arm64 sha256:", "registry.example/cloak:devel@sha256:", "cloak.tar"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}

func TestABuildThatFailsLeavesNoArchive(t *testing.T) {
	tests := map[string]struct{ text, version, platform, says string }{
		"source with a mistake":    {"package main\n\nfunc main() { missing() }\n", "devel", "linux/amd64", "go build . for linux/amd64"},
		"another system":           {source, "devel", "windows/amd64", `"windows/amd64": a platform is linux/amd64 or linux/arm64`},
		"a version that is no tag": {source, "one two", "linux/amd64", "a registry, a repository and a tag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			folder := checkout(t, test.text)
			if _, _, err := buildIn(t, folder, test.version, test.platform); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want one that says %q", err, test.says)
			}
			if left, _ := filepath.Glob(filepath.Join(folder, "bin", "*.tar*")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

func TestTheCreationTimeIsGivenOrNone(t *testing.T) {
	if got, err := Creation(""); err != nil || !got.IsZero() {
		t.Errorf("without a time: got %v and error %v, want the zero time", got, err)
	}
	if got, err := Creation("1750000000"); err != nil || got.Unix() != 1750000000 {
		t.Errorf("got %v and error %v, want second 1750000000", got, err)
	}
	for _, wrong := range []string{"today", "-1", "1.5"} {
		if _, err := Creation(wrong); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("SOURCE_DATE_EPOCH=%s: got error %v, want one that names it", wrong, err)
		}
	}
}
