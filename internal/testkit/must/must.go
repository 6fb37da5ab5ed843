// Package must ends a test at the first step that fails: one that makes what is tested
// needs no words of its own.
package must

import "testing"

// Do ends the test if a step failed:
//
//	must.Do(t, os.Mkdir(dir, 0o700))
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns what a call has made, and ends the test if it failed:
//
//	text := must.Get(os.ReadFile(path))(t)
func Get[T any](made T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return made
	}
}
