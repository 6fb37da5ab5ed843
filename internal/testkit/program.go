package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// RunWithProgram builds the program in a folder, tells the tests of a package where
// it is, runs them and returns their exit code, for TestMain.
func RunWithProgram(m *testing.M, folder string, program *string) int {
	dir, err := os.MkdirTemp("", "program")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	*program = filepath.Join(dir, filepath.Base(folder))
	build := exec.Command("go", "build", "-o", *program, folder) //nolint:noctx // it ends by itself
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, folder, "cannot be built:", err)
		return 1
	}
	return m.Run()
}

// LinkSelf makes a folder in which the running test program has a name, for a
// shell that runs what a page says.
func LinkSelf(t testing.TB, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(self, filepath.Join(folder, name)); err != nil {
		t.Fatal(err)
	}
	return folder
}
