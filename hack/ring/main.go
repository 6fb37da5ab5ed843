// Command ring says whether the tests of a target must be run: they have passed with
// other inputs than there are now. The hash of the inputs of each target's last
// pass is kept in .ci/passed, in the tree, so that a clean checkout knows it.
//
//	go run ./hack/ring unchanged e2e-node  # exit code 0: it passed with these inputs; 1: run it
//	go run ./hack/ring passed e2e-node     # it has just passed: keep the hash
//	go run ./hack/ring long                # the targets that make long runs
//	go run ./hack/ring suite growth        # the arguments of hack/suite for one of them
//	go run ./hack/ring without             # the packages that make test leaves to make long
//
// Inputs are the files that the target's packages are built of, with all that they
// import of this repository, the versions of what they import of others, and the
// folders that their tests read. What the machine brings (the kernel, containerd) is
// none of them. Exit code 2, which "go run"
// turns into 1: the inputs could not be read.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	code, err := run(context.Background(), targets, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ring:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, targets map[string]target, args []string, out io.Writer) (int, error) {
	if len(args) == 1 && (args[0] == "long" || args[0] == "without") {
		return 0, printLong(targets, args[0], out)
	}
	if len(args) != 2 || (args[0] != "unchanged" && args[0] != "passed" && args[0] != "suite") {
		return 2, errors.New("expected: ring unchanged|passed|suite TARGET, ring long, or ring without")
	}
	what, is := targets[args[1]]
	if !is {
		return 2, fmt.Errorf("there is no target %q in the second ring", args[1])
	}
	if args[0] == "suite" {
		if what.long == nil {
			return 2, fmt.Errorf("%q is a make target of its own: run make %s", args[1], args[1])
		}
		_, err := fmt.Fprintln(out, strings.Join(what.suite(), " "))
		return 0, err
	}
	files, err := inputs(ctx, what)
	if err != nil {
		return 2, err
	}
	now, err := digest(os.DirFS("."), files, runtime.Version())
	if err != nil {
		return 2, err
	}
	record := filepath.Join(".ci", "passed", args[1])
	if args[0] == "passed" {
		if err := os.MkdirAll(filepath.Dir(record), 0o755); err != nil {
			return 2, err
		}
		return 0, os.WriteFile(record, []byte(now+"\n"), 0o644)
	}
	last, err := os.ReadFile(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 2, err
	}
	if strings.TrimSpace(string(last)) == now {
		_, err = fmt.Fprintf(out, "%s passed with the %d files that it depends on as they are (%s)\n", what.command(args[1]), len(files), now[:12])
		return 0, err
	}
	_, err = fmt.Fprintf(out, "%s has not passed yet with the %d files that it depends on (%s)\n", what.command(args[1]), len(files), now[:12])
	return 1, err
}

// inputs are the files of a target, relative to the root of the repository.
func inputs(ctx context.Context, what target) ([]string, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	files, err := sources(ctx, root, ".", what.all(), what.apart())
	if err != nil {
		return nil, err
	}
	for _, module := range what.modules {
		of, err := sources(ctx, root, module, []string{"./..."}, nil)
		if err != nil {
			return nil, err
		}
		files = append(files, of...)
	}
	for _, folder := range what.folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
