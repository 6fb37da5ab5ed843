package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keeping is the first argument with which the go command starts this one in the place of
// its tools ("go help build", -toolexec). The folder, the tool and its arguments follow.
const keeping = "keep"

// link is one call of the linker for a test program.
type link struct {
	// program is the import path of the test program, and id the build ID, which is
	// another for any other input: "go build" itself takes a file of the same as the result.
	program, id string
	// out is the file to write.
	out string
}

// linkOf reads the call of a tool; false if it links no test program.
func linkOf(importPath, tool string, args []string) (l link, is bool) {
	if strings.TrimSuffix(filepath.Base(tool), ".exe") != "link" || !strings.HasSuffix(importPath, ".test") {
		return link{}, false
	}
	l.program = importPath
	for i, arg := range args {
		if id, found := strings.CutPrefix(arg, "-buildid="); found {
			l.id = id
		}
		if arg == "-o" && i+1 < len(args) {
			l.out = args[i+1]
		}
	}
	return l, l.id != "" && l.out != ""
}

// file is where the program is kept, and prefix what the names of all begin with that are
// kept of its package.
func (l link) file(dir string) (path, prefix string) {
	prefix = strings.ReplaceAll(strings.TrimPrefix(l.program, product), "/", "+") + "@"
	return filepath.Join(dir, fmt.Sprintf("%s%x", prefix, sha256.Sum256([]byte(l.id)))), prefix
}

// keep runs a tool, but for linking a test program that is kept as it would become: that
// takes five seconds of CPU for one with a client of Kubernetes. It returns the exit code.
func keep(args []string) int {
	dir, tool, rest := args[0], args[1], args[2:]
	l, is := linkOf(os.Getenv("TOOLEXEC_IMPORTPATH"), tool, rest)
	if !is {
		return call(tool, rest)
	}
	file, prefix := l.file(dir)
	err := copyFile(file, l.out)
	if !errors.Is(err, fs.ErrNotExist) {
		return ended(err)
	}
	if code := call(tool, rest); code != 0 {
		return code
	}
	return ended(replace(l.out, file, prefix))
}

func call(tool string, args []string) int {
	command := exec.Command(tool, args...) //nolint:gosec,noctx // the go command says what to run, and ends it
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return ended(err)
	}
	return command.ProcessState.ExitCode()
}

// replace keeps a linked program in the place of those that were kept of its package.
func replace(out, file, prefix string) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	kept, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := copyFile(out, file); err != nil {
		return err
	}
	for _, each := range kept {
		if !strings.HasPrefix(each.Name(), prefix) || each.Name() == filepath.Base(file) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, each.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyFile copies a program. Nobody sees half of it: another may look for it meanwhile.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // nothing was written
	half, err := os.CreateTemp(filepath.Dir(to), "half-")
	if err != nil {
		return err
	}
	defer os.Remove(half.Name()) //nolint:errcheck // it is gone when all went well
	_, err = io.Copy(half, source)
	if err := errors.Join(err, half.Chmod(0o755), half.Close()); err != nil { //nolint:gosec // a program
		return err
	}
	return os.Rename(half.Name(), to)
}
