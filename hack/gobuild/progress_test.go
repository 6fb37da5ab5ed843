package gobuild

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAStateIsOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		state state
		want  string
	}{
		"modules come first":                        {state{downloaded: 12}, "downloading modules: 12 so far"},
		"the count is not known yet":                {state{compiled: 7}, "compiling packages: 7 so far"},
		"a guess needs some packages":               {state{compiled: 27, total: 2792, elapsed: 30 * time.Second}, "compiling 2,792 packages: 0 %"},
		"a guess needs some seconds":                {state{compiled: 279, total: 2792, elapsed: 4 * time.Second}, "compiling 2,792 packages: 9 %"},
		"the rest takes as long as what is done":    {state{compiled: 1117, total: 2792, elapsed: 60 * time.Second}, "compiling 2,792 packages: 40 %, about 90 s left"},
		"time before the first package is not used": {state{compiled: 50, total: 100, compiling: 90 * time.Second, elapsed: 100 * time.Second}, "compiling 100 packages: 50 %, about 10 s left"},
		"the linker comes last":                     {state{compiled: 100, total: 100, elapsed: time.Minute}, "compiling 100 packages: done, linking"},
		"more than were counted":                    {state{compiled: 101, total: 100, elapsed: time.Minute}, "compiling 100 packages: done, linking"},
		"a million has two commas":                  {state{compiled: 1, total: 1234567}, "compiling 1,234,567 packages: 0 %"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.state.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLinesOfTheGoToolAreTold(t *testing.T) {
	var s state
	var said []string
	for _, line := range []string{"go: downloading k8s.io/api v0.35.4", "internal/goos", "k8s.io/api/core/v1", "", "# example.com/broken", "./main.go:3:1: syntax error", "go: warning: something"} {
		if message, is := s.read(line); is {
			said = append(said, message)
		}
	}
	want := []string{"# example.com/broken", "./main.go:3:1: syntax error", "go: warning: something"}
	if diff := cmp.Diff(want, said); diff != "" || s.downloaded != 1 || s.compiled != 2 {
		t.Errorf("%d downloaded, %d compiled; lines for people (-want +got):\n%s", s.downloaded, s.compiled, diff)
	}
}

func TestATerminalHasOneLineAndALogOneForEachTenth(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"a terminal": {true, "\r\x1b[Kx: compiling 20 packages: 5 %\r\x1b[Kx: compiling 20 packages: 10 %\r\x1b[Kx: compiling 20 packages: 15 %\r\x1b[Kx: 3 packages compiled in 3 s\n"},
		"a log":      {false, "x: compiling 20 packages: 5 %\nx: compiling 20 packages: 10 %\nx: 3 packages compiled in 3 s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d, s := display{to: &out, name: "x", terminal: c.terminal}, state{total: 20}
			d.show(state{})
			for second := range 3 {
				s.compiled++
				d.show(s.at(time.Duration(second+1) * time.Second))
			}
			d.end(s)
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// module is a build of a module with one file.
func module(t *testing.T, source string) Build {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/tried\n\ngo 1.26\n"), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600))
	return Build{Name: "tried", Dir: dir, Env: []string{"GOFLAGS="}, Output: filepath.Join(dir, "tried"), Packages: []string{"."}}
}

// A package in a new folder is in no cache yet.
func TestARealBuildNamesNoPackage(t *testing.T) {
	const imported = 12
	source := "package main\n\nimport (\n"
	for i := range imported {
		source += fmt.Sprintf("\t_ \"example.com/tried/p%d\"\n", i)
	}
	build, out := module(t, source+")\n\nfunc main() { println(1) }\n"), &bytes.Buffer{}
	for i := range imported {
		folder := filepath.Join(build.Dir, fmt.Sprintf("p%d", i))
		must.Do(t, os.Mkdir(folder, 0o755))
		must.Do(t, os.WriteFile(filepath.Join(folder, "p.go"), fmt.Appendf(nil, "package p%d\n", i), 0o600))
	}
	build.Progress = out
	if got := build.stale(t.Context()); got != imported {
		t.Errorf("%d packages are to be compiled, want %d", got, imported)
	}
	must.Do(t, build.Run(t.Context()))
	if _, err := os.Stat(filepath.Join(build.Dir, "tried")); err != nil {
		t.Error(err)
	}
	if line := regexp.MustCompile(`^(tried: (compiling|\d+ packages compiled) .*\n)*$`); !line.MatchString(out.String()) {
		t.Errorf("the build said\n%s", out)
	}
	if got := build.stale(t.Context()); got != 0 {
		t.Errorf("%d packages are to be compiled after the build", got)
	}
	out.Reset()
	must.Do(t, build.Run(t.Context()))
	if out.Len() != 0 {
		t.Errorf("a build from the cache said %q", out)
	}
}

func TestABrokenBuildShowsTheCompilersMessages(t *testing.T) {
	build := module(t, "package main\n\nfunc main() { missing() }\n")
	build.Progress = &bytes.Buffer{}
	err := build.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "undefined: missing") {
		t.Errorf("error %v", err)
	}
}
