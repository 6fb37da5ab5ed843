package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The test program measures and keeps as the command does.
func TestMain(m *testing.M) {
	runForGo(os.Args)
	os.Exit(m.Run())
}

func TestTheRunSaysHowFarItIs(t *testing.T) {
	var out strings.Builder
	start := time.Unix(0, 0)
	s := newSuite(3, start, &out)
	s.say(start.Add(20 * time.Second))
	s.take(event{Action: "start", Package: product + "test/slow"}, start.Add(25*time.Second))
	s.take(event{Action: "start", Package: product + "test/quick"}, start.Add(30*time.Second))
	s.take(event{Action: "output", Package: product + "test/quick", Test: "TestA", Output: "a line\n"}, start)
	s.take(event{Action: "pass", Package: product + "test/quick", Test: "TestA"}, start)
	s.take(event{Action: "pass", Package: product + "test/quick", Elapsed: 1.26}, start)
	s.say(start.Add(85 * time.Second))
	s.take(event{Action: "pass", Package: product + "test/slow", Elapsed: 70}, start)
	s.take(event{Action: "output", Package: product + "test/known", Output: "ok  \tp\t(cached)\n"}, start)
	s.take(event{Action: "pass", Package: product + "test/known"}, start)
	s.finish(start.Add(2*time.Minute), nil)
	want := `  … 0 of 3 packages done after 20 s; compiling
   1/3 ok   test/quick 1.3 s
  … 1 of 3 packages done after 1 min 25 s; 1 run, the longest is test/slow with 60 s
   2/3 ok   test/slow 70.0 s
   3/3 ok   test/known cached
    70.0 s  test/slow
     1.3 s  test/quick
3 of 3 packages in 2 min 00 s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// moduleOf writes a module and returns its folder.
func moduleOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.25.0\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func TestAPackageRunsIfATestOfItIsChosen(t *testing.T) {
	dir := moduleOf(t, map[string]string{
		"p_test.go": "package p\n\nfunc TestMain(m *testing.M) {}\nfunc TestShort(t *testing.T) {}\nfunc help() {}\n",
	})
	for _, c := range []struct {
		run, skip string
		want      bool
	}{
		{want: true}, {run: "Short", want: true}, {run: "Long"}, {skip: "^TestShort"}, {skip: "^TestLong", want: true},
		{run: "Short/part", want: true}, {skip: "Short/part", want: true}, {skip: "Main|help", want: true}, {run: "Main"},
	} {
		chosen := must.Get(choose(c.run, c.skip))(t)
		if got := must.Get(chosen.anyIn(dir))(t); got != c.want {
			t.Errorf("--run %q --skip %q: got %v, want %v", c.run, c.skip, got, c.want)
		}
	}
}

// The tests of a module are run for real, with what can go wrong in them.
func TestTheLastLinesNameTheTestsThatFailed(t *testing.T) {
	test := func(body string) string { return "package p\n\nimport \"testing\"\n\n" + body }
	dir := moduleOf(t, map[string]string{
		"good/p_test.go":   test("func TestA(t *testing.T) { t.Log(\"not shown\") }\n"),
		"wrong/p_test.go":  test("func TestB(t *testing.T) { t.Run(\"part\", func(t *testing.T) { t.Error(\"seen this\") }) }\nfunc TestC(t *testing.T) { t.Log(\"nor this\") }\n"),
		"broken/p_test.go": test("func TestD(t *testing.T) { missing() }\n"),
		"panics/p_test.go": test("func TestE(t *testing.T) { panic(\"at once\") }\n"),
		"left/p_test.go":   test("func TestF(t *testing.T) { t.Error(\"left out\") }\n"),
		"some/p_test.go":   test("func TestLongG(t *testing.T) { t.Error(\"skipped\") }\nfunc TestH(t *testing.T) {}\n"),
		"all/p_test.go":    test("func TestMain(m *testing.M) { m.Run() }\nfunc TestLongI(t *testing.T) { missing() }\n"),
		"untested/p.go":    "package p\n",
	})
	var out strings.Builder
	code, err := run(t.Context(), []string{"--cpu", "--skip", "^TestLong", "--without", "example.com/m/left", dir}, &out)
	if code != 1 || err != nil {
		t.Errorf("got exit code %d and error %v, want 1 and none", code, err)
	}
	said := out.String()
	for _, want := range []string{"seen this", "undefined: missing", "panic: at once", "ok   example.com/m/some"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, wrong := range []string{"not shown", "nor this", "left out", "untested", "example.com/m/all"} {
		if strings.Contains(said, wrong) {
			t.Errorf("it says %q", wrong)
		}
	}
	if !regexp.MustCompile(`(?m)^ +\d+\.\d s +\d+\.\d s of CPU  example.com/m/good$`).MatchString(said) {
		t.Error("it does not say how long example.com/m/good took")
	}
	_, end, _ := strings.Cut(said, "5 of 5 packages in ")
	got := strings.Split(strings.TrimSpace(end), "\n")[1:]
	want := map[string]bool{
		"FAIL: example.com/m/broken": true, "FAIL: example.com/m/panics TestE": true,
		"FAIL: example.com/m/wrong TestB/part": true, "FAIL: example.com/m/wrong TestB": true,
	}
	for _, line := range got {
		if !want[line] {
			t.Errorf("it ends with %q", line)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("the last lines lack %v", want)
	}
	if t.Failed() {
		t.Log(said)
	}
}

// Modules beside the first run too, and a failure in the first or in one of those beside it
// is no reason to run fewer.
func TestAllModulesAreTested(t *testing.T) {
	module := func(name, body string) string {
		return moduleOf(t, map[string]string{"p_test.go": "package p\n\nimport \"testing\"\n\nfunc Test" + name + "(t *testing.T) { " + body + " }\n"})
	}
	var out strings.Builder
	code, err := run(t.Context(), []string{module("First", "t.Error()"), module("Beside", "t.Error()"), module("Last", "")}, &out)
	said := out.String()
	if code != 1 || err != nil || !strings.Contains(said, "3 of 3 packages in") || strings.Count(said, "\nFAIL: ") != 2 ||
		!strings.Contains(said, "\nFAIL: example.com/m TestFirst\n") || !strings.Contains(said, "\nFAIL: example.com/m TestBeside\n") {
		t.Errorf("got exit code %d and error %v:\n%s", code, err, said)
	}
}

func TestWhatCannotBeRunIsAnError(t *testing.T) {
	for name, args := range map[string][]string{
		"no module":                  {},
		"packages of two modules":    {"--packages", "./...", ".", "iampolicy"},
		"a folder that is none":      {filepath.Join(t.TempDir(), "missing")},
		"a pattern that is none":     {"--skip", "(", "."},
		"a flag that does not exist": {"--verbose", "."},
	} {
		t.Run(name, func(t *testing.T) {
			if code, err := run(t.Context(), args, &strings.Builder{}); code != 2 || err == nil {
				t.Errorf("got exit code %d and error %v, want 2 and an error", code, err)
			}
		})
	}
}

func TestTheSlowestPackagesExist(t *testing.T) {
	for _, name := range slowest {
		if found, _ := filepath.Glob(filepath.Join("../..", name, "*_test.go")); len(found) == 0 {
			t.Errorf("%s has no tests", name)
		}
	}
}

// TestAModuleThatReadsOtherFilesIsRunPastTheCache: go takes a result of such a module from its
// cache although a file that the test has read is another one.
func TestAModuleThatReadsOtherFilesIsRunPastTheCache(t *testing.T) {
	for _, test := range []struct {
		folder string
		count  int
		want   string
	}{
		{".", 0, ""}, {"iampolicy", 0, ""}, {"awsauth/kube", 0, ""},
		{"hack/rights", 0, "-count 1"}, {"./test/bundle", 0, "-count 1"},
		{".", 3, "-count 3"}, {"hack/rights", 3, "-count 3"},
	} {
		args := strings.Join(module{folder: test.folder}.arguments(options{count: test.count}, "suite"), " ")
		if got := strings.Contains(args, "-count"); got != (test.want != "") || !strings.Contains(args, test.want) {
			t.Errorf("in %s with count %d: %q, want %q in it", test.folder, test.count, args, test.want)
		}
	}
}
