// Package growth proves that the capacity controller does not grow: its
// heap, its descriptors and its goroutines after many passes are those after few,
// however often its credentials, its Secret and its certificates changed meanwhile.
package growth

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	// few and many are after how many passes is measured.
	few, many = 500, 2000
	// tolerance is by how much the objects in the heap may differ, spanTolerance
	// by how much the memory in which they lie: that has holes, which are chance.
	tolerance, spanTolerance = 0.05, 0.1
)

func TestNothingGrowsAsAWebIdentityThatIsRenewed(t *testing.T) {
	if !isAlone(t) {
		return
	}
	s := open(t)
	start(t, s, true).watch(t, renew)
}

func TestNothingGrowsAsASecretThatIsReplaced(t *testing.T) {
	if !isAlone(t) {
		return
	}
	s := open(t)
	start(t, s, false).watch(t, replaceSecret(t, s))
}

// aloneVariable says that a process is there for one test.
const aloneVariable = "TABARD_TEST_ALONE"

// isAlone says that this process is there for this test alone, so that nobody else
// changes what it has. Elsewhere it starts such a process and waits for it.
func isAlone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(aloneVariable) != "" {
		return true
	}
	t.Parallel()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=10m")
	command.Env = append(os.Environ(), aloneVariable+"=1")
	said, err := command.CombinedOutput()
	t.Logf("%s", said)
	if err != nil {
		t.Errorf("in a process of its own: %v", err)
	}
	return false
}

// watch changes the credentials again and again, with passes in between, and
// compares what the process has early and late.
func (g *growth) watch(t *testing.T, change func(*testing.T, *growth, int) turn) {
	t.Helper()
	var first, last size
	for i := 0; last == (size{}); i++ {
		now := change(t, g, i)
		g.play(t, now)
		switch passes := g.passes(t); {
		case first == (size{}) && passes >= few:
			first = g.measure(t, now)
		case passes >= many:
			last = g.measure(t, now)
		}
	}
	t.Logf("early %+v", first)
	t.Logf("late  %+v", last)
	for _, problem := range compare(first, last) {
		t.Error(problem)
	}
}

// size is what the process has.
type size struct {
	passes int
	// live are the bytes of the objects in the heap after a collection, spans
	// those of the memory in which at least one of them lies.
	live, spans             uint64
	descriptors, goroutines int
}

// compare says what has grown.
func compare(first, last size) (problems []string) {
	for _, heap := range []struct {
		name        string
		first, last uint64
		tolerance   float64
	}{{"live objects", first.live, last.live, tolerance}, {"their spans", first.spans, last.spans, spanTolerance}} {
		if before, after := float64(heap.first), float64(heap.last); math.Abs(after-before) >= heap.tolerance*before {
			problems = append(problems, fmt.Sprintf("%s: %d bytes after %d passes and %d after %d, want less than %.0f %% between them",
				heap.name, heap.first, first.passes, heap.last, last.passes, 100*heap.tolerance))
		}
	}
	if first.descriptors != last.descriptors {
		problems = append(problems, fmt.Sprintf("%d descriptors after %d passes and %d after %d, want as many",
			first.descriptors, first.passes, last.descriptors, last.passes))
	}
	if first.goroutines != last.goroutines {
		problems = append(problems, fmt.Sprintf("%d goroutines after %d passes and %d after %d, want as many",
			first.goroutines, first.passes, last.goroutines, last.passes))
	}
	return problems
}

// TestGrowthIsSeen: a check that finds nothing must be able to find something.
func TestGrowthIsSeen(t *testing.T) {
	first := size{passes: few, live: 1000, spans: 1000, descriptors: 10, goroutines: 100}
	for name, c := range map[string]struct {
		change func(*size)
		want   int
	}{
		"nothing":            {func(*size) {}, 0},
		"a little":           {func(s *size) { s.live, s.spans = 951, 1099 }, 0},
		"more objects":       {func(s *size) { s.live = 1050 }, 1},
		"more spans":         {func(s *size) { s.spans = 1100 }, 1},
		"one descriptor":     {func(s *size) { s.descriptors++ }, 1},
		"one goroutine":      {func(s *size) { s.goroutines++ }, 1},
		"less of everything": {func(s *size) { *s = size{} }, 4},
	} {
		last := first
		c.change(&last)
		if got := compare(first, last); len(got) != c.want {
			t.Errorf("%s: %q, want %d problems", name, got, c.want)
		}
	}
}

// measure waits until descriptors and goroutines come and go no more.
func (g *growth) measure(t *testing.T, who turn) size {
	t.Helper()
	g.rest(t, who)
	var now size
	steady := 0
	testkit.Await(t, func() error {
		before := now
		now = g.look(t)
		if steady++; before.descriptors != now.descriptors || before.goroutines != now.goroutines {
			steady = 0
		}
		if steady < 25 {
			return fmt.Errorf("descriptors and goroutines do not come to rest: %+v", now)
		}
		return nil
	})
	return now
}

func (g *growth) look(t *testing.T) size {
	t.Helper()
	for range 3 { // pools keep what they have for two collections
		runtime.GC()
	}
	open := must.Get(os.ReadDir("/proc/self/fd"))(t)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return size{
		passes: g.passes(t), live: memory.HeapAlloc, spans: memory.HeapInuse,
		descriptors: len(open), goroutines: runtime.NumGoroutine(),
	}
}

// passes is how many this controller has made.
func (g *growth) passes(t *testing.T) int {
	t.Helper()
	total := must.Get(stage.Passes())(t)
	return total - g.before
}
