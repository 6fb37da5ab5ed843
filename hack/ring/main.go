// Command ring says whether a target of heavy programs must be run: it has passed
// with other inputs than there are now. The hash of the inputs of each target's last
// pass is kept in .ci/passed, in the tree, so that a clean checkout knows it.
//
//	go run ./hack/ring unchanged e2e-node  # exit code 0: it passed with these inputs; 1: run it
//	go run ./hack/ring passed e2e-node     # it has just passed: keep the hash
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

// target is what one make target runs.
type target struct {
	// packages are those whose tests it runs, and the programs that they start.
	packages []string
	// folders hold what the tests read beside that: manifests, pages, modules of their own.
	folders []string
}

// targets are those of the second ring, by the name of their make target.
var targets = map[string]target{
	"e2e-node": {
		packages: []string{"./internal/lab/...", "./test/node/...", "./cmd/tabard", "./cmd/tabard-operator", "./cmd/tabard-webhook", "./examples/keyless-pod", "./hack/image", "./hack/localkube"},
		folders:  []string{"config", "localkube", "test/node", "docs/lab.md"},
	},
	"interop": {
		packages: []string{"./test/hub/...", "./cmd/tabard-eks-token", "./hack/ocm", "./hack/localkube"},
		folders:  []string{"localkube", "test/ocm"},
	},
}

func main() {
	code, err := run(context.Background(), targets, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ring:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, targets map[string]target, args []string, out io.Writer) (int, error) {
	if len(args) != 2 || (args[0] != "unchanged" && args[0] != "passed") {
		return 2, errors.New("expected: ring unchanged TARGET, or ring passed TARGET")
	}
	what, is := targets[args[1]]
	if !is {
		return 2, fmt.Errorf("there is no target %q in the second ring", args[1])
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
		_, err = fmt.Fprintf(out, "make %s passed with the %d files that it depends on as they are (%s)\n", args[1], len(files), now[:12])
		return 0, err
	}
	_, err = fmt.Fprintf(out, "make %s has not passed yet with the %d files that it depends on (%s)\n", args[1], len(files), now[:12])
	return 1, err
}

// inputs are the files of a target, relative to the root of the repository.
func inputs(ctx context.Context, what target) ([]string, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	files, err := sources(ctx, root, what.packages)
	if err != nil {
		return nil, err
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
