package testkit

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Main runs the tests of a package, ends what they share and returns their exit code,
// for TestMain.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "shared")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = &sharing{dir: dir}
	defer shared.end()
	return m.Run()
}

// Shared is what make returns, for all tests of a package whose TestMain is Main: it is
// made for the first that asks for it, and lasts until the last has ended.
func Shared[T any](make func(testing.TB) T) func(testing.TB) T {
	var mu sync.Mutex
	var done, ok bool
	var made T
	return func(t testing.TB) T {
		t.Helper()
		if shared == nil {
			t.Fatal("TestMain must call testkit.Main, which ends what is shared")
		}
		mu.Lock()
		defer mu.Unlock()
		if !done {
			done = true
			made = make(lasting{t, shared})
			ok = true
		}
		if !ok {
			t.Fatal("what the tests share could not be made: see the first that failed")
		}
		return made
	}
}

// SharedCluster is Shared for a cluster: each test has it as its own, and namespaces of
// its own in it.
func SharedCluster(options ClusterOptions, prepare ...func(*Cluster)) func(testing.TB) *Cluster {
	started := Shared(func(t testing.TB) *Cluster {
		c := StartCluster(t, options)
		for _, each := range prepare {
			each(c)
		}
		return c
	})
	return func(t testing.TB) *Cluster {
		t.Helper()
		return started(t).In(t)
	}
}

// shared is of the tests that run; nil before Main.
var shared *sharing

// sharing is what lasts as long as a package's tests.
type sharing struct {
	dir string

	mu       sync.Mutex
	cleanups []func()
}

func (s *sharing) end() {
	for _, cleanup := range slices.Backward(s.cleanups) {
		cleanup()
	}
	_ = os.RemoveAll(s.dir)
}

// lasting is the test that makes what is shared: it fails if that fails, but what is made
// does not end with it.
type lasting struct {
	testing.TB
	*sharing
}

func (l lasting) Cleanup(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cleanups = append(l.cleanups, what)
}

func (l lasting) Context() context.Context { return context.WithoutCancel(l.TB.Context()) }

func (l lasting) TempDir() string {
	l.Helper()
	dir := must.Get(os.MkdirTemp(l.dir, ""))(l)
	return dir
}

func (l lasting) ArtifactDir() string { return l.TempDir() }

// Logf is also for what is told when that test has ended.
func (l lasting) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
