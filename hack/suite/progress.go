package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// say prints how far the run is, and the package that has run longest.
func (s *suite) say(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest, since := "", now
	for name, began := range s.running {
		if began.Before(since) || began.Equal(since) && name < longest {
			longest, since = name, began
		}
	}
	doing := "compiling"
	if longest != "" {
		doing = fmt.Sprintf("%d run, the longest is %s with %d s", len(s.running), short(longest), int(now.Sub(since).Seconds()))
	}
	fmt.Fprintf(s.out, "  … %d of %d packages done after %s; %s\n", len(s.done), s.total, span(now.Sub(s.began)), doing)
}

// span is a time in minutes and seconds.
func span(d time.Duration) string {
	seconds := int(d.Seconds())
	if seconds < 60 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min %02d s", seconds/60, seconds%60)
}

// slowestShown is how many of the slowest packages are shown at the end, and of the
// slowest tests where CPU times are.
const slowestShown, testsShown = 10, 60

// bySeconds sorts the slowest first.
func bySeconds(a, b result) int { return cmp.Compare(b.seconds, a.seconds) }

// finish prints the slowest packages, or all of them and the slowest tests if CPU times
// were measured, and last of all the tests that failed.
func (s *suite) finish(now time.Time, cpu map[string]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ran := slices.DeleteFunc(slices.Clone(s.done), func(r result) bool { return r.cached })
	slices.SortFunc(ran, bySeconds)
	if len(cpu) > 0 {
		s.printFigures(ran, cpu)
	} else {
		for _, r := range ran[:min(len(ran), slowestShown)] {
			fmt.Fprintf(s.out, "%8.1f s  %s\n", r.seconds, r.name)
		}
	}
	fmt.Fprintf(s.out, "%d of %d packages in %s\n", len(s.done), s.total, span(now.Sub(s.began)))
	for _, failure := range s.failures {
		fmt.Fprintf(s.out, "FAIL: %s\n", failure)
	}
}

// printFigures prints the time of each package by the clock and of the CPU, and of the
// slowest tests by the clock; a parallel one waits for others in it.
func (s *suite) printFigures(ran []result, cpu map[string]float64) {
	slices.SortFunc(s.tests, bySeconds)
	for _, t := range s.tests[:min(len(s.tests), testsShown)] {
		fmt.Fprintf(s.out, "%8.1f s  %s\n", t.seconds, t.name)
	}
	sum := 0.0
	for _, r := range ran {
		sum += cpu[r.name]
		fmt.Fprintf(s.out, "%8.1f s %8.1f s of CPU  %s\n", r.seconds, cpu[r.name], r.name)
	}
	fmt.Fprintf(s.out, "%.0f s of CPU in all, without compiling and linking\n", sum)
}
