package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Tabard is the built program.
func Tabard(t testing.TB) (path string) {
	t.Helper()
	path, err := filepath.Abs(os.Getenv("TABARD_BIN"))
	if err != nil || os.Getenv("TABARD_BIN") == "" {
		t.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	return path
}

// StartTabard starts the built program, in an environment that has what is given and a
// home without anything, and stops it at the end of the test.
func StartTabard(t testing.TB, environment []string, args ...string) *Process {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), Tabard(t), args...)
	command.Env = append([]string{"HOME=" + t.TempDir()}, environment...)
	return StartProcess(t, command)
}

// RunWithProgram builds the program in a folder, tells the tests of a package where
// it is, runs them and returns their exit code, for TestMain.
func RunWithProgram(m *testing.M, folder string, program *string) int {
	return runWith(m, program, filepath.Base(folder), "build", "-o", "PROGRAM", folder)
}

// RunWithHelm does the same with the real helm, of the version that the chart's module has.
func RunWithHelm(m *testing.M, program *string) int {
	return runWith(m, program, "helm", "build", "-C", filepath.Join(Root(), "hack", "chart"), "-o", "PROGRAM", "helm.sh/helm/v3/cmd/helm")
}

// runWith builds a program by arguments of go, in which PROGRAM stands for its path.
func runWith(m *testing.M, program *string, name string, args ...string) int {
	dir, err := os.MkdirTemp("", "program")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	*program = filepath.Join(dir, name)
	args[slices.Index(args, "PROGRAM")] = *program
	build := exec.Command("go", args...) //nolint:noctx // it ends by itself
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, name, "cannot be built:", err)
		return 1
	}
	return Main(m)
}

// asProgram in the environment makes a test program the program that it tests.
const asProgram = "TABARD_TEST_AS_PROGRAM"

// RunAsProgram runs the tests of a package, or the program that they test where a
// shell of LinkSelf's test calls for it, and returns the exit code, for TestMain. It
// is 125 for an error that names none.
func RunAsProgram(m *testing.M, program func(args []string) error) int {
	if os.Getenv(asProgram) == "" {
		return Main(m)
	}
	err := program(os.Args[1:])
	if err == nil {
		return 0
	}
	if said, ok := errors.AsType[*command.Exit](err); ok {
		return said.ExitCode()
	}
	fmt.Fprintln(os.Stderr, err)
	return 125
}

// LinkSelf makes a folder in which the running test program has a name, and lets
// the test's shells find it there as the program of RunAsProgram.
func LinkSelf(t testing.TB, name string) (folder string) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	folder = t.TempDir()
	must.Do(t, os.Symlink(self, filepath.Join(folder, name)))
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv(asProgram, "1")
	return folder
}
