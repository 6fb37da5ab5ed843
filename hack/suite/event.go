package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line of "go test -json"; see "go doc test2json" and "go help buildjson".
type event struct {
	Action, Package, Test, Output string
	// ImportPath is what a line of the compiler is about, FailedBuild which such lines
	// are why a package's tests could not be built.
	ImportPath, FailedBuild string
	Elapsed                 float64
}

// suite is what is known of a run. It is safe for concurrent use.
type suite struct {
	mu    sync.Mutex
	out   io.Writer
	total int
	began time.Time
	// running has the packages whose tests run, by the instant at which they began.
	running map[string]time.Time
	done    []result
	// tests are those that have ended, without their parts, each as "package Test".
	tests []result
	// texts are what tests have printed that have not passed, by package and test, and
	// what the compiler has printed, by package alone.
	texts map[[2]string]*strings.Builder
	// failures are the tests that failed, each as "package Test"; a package whose tests
	// could not be built or ended early is there by its name alone.
	failures []string
}

// result is one package, or one test, that has ended.
type result struct {
	name    string
	seconds float64
	cached  bool
}

func newSuite(total int, now time.Time, out io.Writer) *suite {
	return &suite{total: total, began: now, out: out, running: map[string]time.Time{}, texts: map[[2]string]*strings.Builder{}}
}

// take takes in one event.
func (s *suite) take(e event, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "start":
		s.running[e.Package] = now
	case "output", "build-output":
		if e.Action == "build-output" {
			key = [2]string{e.ImportPath}
		}
		if s.texts[key] == nil {
			s.texts[key] = &strings.Builder{}
		}
		s.texts[key].WriteString(e.Output)
	case "fail":
		if e.Test != "" {
			s.failures = append(s.failures, short(e.Package)+" "+e.Test)
			return
		}
		s.end(e)
	case "pass", "skip":
		if e.Test != "" {
			delete(s.texts, key)
			if !strings.Contains(e.Test, "/") {
				s.tests = append(s.tests, result{name: short(e.Package) + " " + e.Test, seconds: e.Elapsed})
			}
			return
		}
		s.end(e)
	}
}

// end takes in that a package has ended. The text of one that failed is printed at once.
func (s *suite) end(e event) {
	name := short(e.Package)
	delete(s.running, e.Package)
	own := s.texts[[2]string{e.Package}]
	cached := own != nil && strings.Contains(own.String(), "(cached)")
	s.done = append(s.done, result{name: name, seconds: e.Elapsed, cached: cached})
	word := "ok  "
	if e.Action == "fail" {
		word = "FAIL"
		s.printTexts(e)
		if !slices.ContainsFunc(s.failures, func(f string) bool { return strings.HasPrefix(f, name+" ") }) {
			s.failures = append(s.failures, name)
		}
	}
	took := fmt.Sprintf("%.1f s", e.Elapsed)
	if cached {
		took = "cached"
	}
	fmt.Fprintf(s.out, "%4d/%d %s %s %s\n", len(s.done), s.total, word, name, took)
	for key := range s.texts {
		if key[0] == e.Package {
			delete(s.texts, key)
		}
	}
}

// printTexts prints what tests of a package have said that did not pass, and what the
// compiler has said.
func (s *suite) printTexts(e event) {
	var keys [][2]string
	for key := range s.texts {
		if key[0] == e.Package || e.FailedBuild != "" && key[0] == e.FailedBuild {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	for _, key := range keys {
		fmt.Fprint(s.out, s.texts[key])
	}
}
