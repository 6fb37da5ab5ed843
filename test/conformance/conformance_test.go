// Package conformance_test asks the local AWS with the clients that people use:
// the AWS SDKs for Go, JavaScript and Python, and the aws command line. Nothing
// of ours is on their side, and each asks over TLS and over plain HTTP. The table
// in checks_test.go says which client makes which check.
//
// The SDK for Go is always there. The others are looked for on the machine: one
// that is missing fails its test. What ran is printed at the end, with versions.
package conformance_test

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	ran.print(os.Stdout)
	os.Exit(code)
}

// summary is which clients ran.
type summary struct {
	mu     sync.Mutex
	checks map[string]int
}

var ran = summary{checks: map[string]int{}}

// add counts checks that a client has made, passed or failed.
func (s *summary) add(version string, checks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks[version] += checks
}

func (s *summary) print(out io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, version := range slices.Sorted(maps.Keys(s.checks)) {
		fmt.Fprintf(out, "conformance: %s: %d checks made\n", version, s.checks[version])
	}
}

// overBoth runs a client's checks in a world of their own over TLS, and in
// another over plain HTTP.
func overBoth(t *testing.T, run func(*testing.T, *world)) {
	t.Run("https", func(t *testing.T) {
		w := newWorld(t)
		w.url = w.URL()
		run(t, w)
	})
	t.Run("http", func(t *testing.T) {
		w := newWorld(t)
		w.url = w.PlainURL()
		run(t, w)
	})
}
