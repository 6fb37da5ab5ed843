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

// slowestShown is how many of the slowest packages are shown at the end.
const slowestShown = 10

// finish prints the slowest packages, with their CPU time if it was measured, and last
// of all the tests that failed.
func (s *suite) finish(now time.Time, cpu map[string]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ran := slices.DeleteFunc(slices.Clone(s.done), func(r result) bool { return r.cached })
	slices.SortFunc(ran, func(a, b result) int { return cmp.Compare(b.seconds, a.seconds) })
	if len(ran) > slowestShown && len(cpu) == 0 {
		ran = ran[:slowestShown]
	}
	sum := 0.0
	for _, r := range ran {
		if len(cpu) == 0 {
			fmt.Fprintf(s.out, "%8.1f s  %s\n", r.seconds, r.name)
			continue
		}
		sum += cpu[r.name]
		fmt.Fprintf(s.out, "%8.1f s %8.1f s of CPU  %s\n", r.seconds, cpu[r.name], r.name)
	}
	if len(cpu) > 0 {
		fmt.Fprintf(s.out, "%.0f s of CPU in all, without compiling and linking\n", sum)
	}
	fmt.Fprintf(s.out, "%d of %d packages in %s\n", len(s.done), s.total, span(now.Sub(s.began)))
	for _, failure := range s.failures {
		fmt.Fprintf(s.out, "FAIL: %s\n", failure)
	}
}
