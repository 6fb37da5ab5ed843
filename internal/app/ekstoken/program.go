package ekstoken

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// Main runs the program and returns its exit code, one of usage.Codes. It does without what other
// programs of Tabard share, which has a client of Kubernetes and would double its size.
func Main(args []string) int {
	err := usage.Execute(context.Background(), eks.Program(World()), args) //nolint:forbidigo // a process has no caller
	if err != nil {
		fmt.Fprintln(os.Stderr, "tabard-eks-token:", err)
	}
	return codeOf(err)
}

// codeOf is that of the command, for what this program can meet: without a signal to wait for, it is
// ended by one as any program is.
func codeOf(err error) int {
	switch {
	case err == nil:
		return usage.Fine
	case usage.IsWrong(err):
		return usage.Unusable
	}
	return usage.Refused
}

// Install copies the running program to a path.
func Install(path string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	return copyProgram(program, path)
}

// copyProgram writes beside the path and renames, so that the path always has a whole
// program, or none.
func copyProgram(program, path string) (err error) {
	switch there, err := os.Lstat(path); {
	case err == nil && !there.Mode().IsRegular():
		return usage.Wrong(fmt.Errorf("%s is a %s; give the path of a file", path, kindOf(there.Mode())))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look at the path: %w", err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read this program: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	to, err := os.CreateTemp(filepath.Dir(path), ".tabard-eks-token-")
	if err != nil {
		return fmt.Errorf("write the program: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to.Name()))
		}
	}()
	_, err = to.Write(content)
	if err = errors.Join(err, to.Chmod(0o755), to.Sync(), to.Close()); err != nil {
		return fmt.Errorf("write the program: %w", err)
	}
	if err = os.Rename(to.Name(), path); err != nil {
		return fmt.Errorf("put the program in its place: %w", err)
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	}
	return "special file"
}
