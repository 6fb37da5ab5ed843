// Command localkube builds the localkube program once per version, into a cache
// outside the checkout, and prints its path as the only line on standard
// output. What it does meanwhile goes to standard error. It is run in the
// checkout's root folder:
//
//	go run ./hack/localkube
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/tabard-dev/tabard/hack/gobuild"
	"github.com/tabard-dev/tabard/internal/lab/localkube"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := ensure(ctx, "localkube", os.Getenv, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "localkube:", err)
		return 1
	}
	if _, err := fmt.Fprintln(os.Stdout, path); err != nil {
		return 1
	}
	return 0
}

// ensure returns the path of the program built from the module in folder
// source; it builds if there is none yet.
func ensure(ctx context.Context, source string, getenv func(string) string, progress io.Writer) (string, error) {
	key, err := localkube.Key(source)
	if err != nil {
		return "", fmt.Errorf("%w; run this in the root folder of the checkout", err)
	}
	dir := filepath.Join(localkube.CacheDir(getenv), key)
	path := filepath.Join(dir, "localkube")
	if exists(path) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, "lock"), progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(path) { // another builder was quicker
		return path, nil
	}
	part := path + ".part"
	if err := build(ctx, source, part, progress); err != nil {
		return "", err
	}
	// The rename is the only way a program appears in the cache: a build that
	// was interrupted leaves nothing that looks finished.
	if err := os.Rename(part, path); err != nil {
		return "", fmt.Errorf("put the program into the cache: %w", err)
	}
	return path, nil
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// lock waits until no other builder works on the same program.
func lock(path string, progress io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the build's lock: %w", err)
	}
	descriptor := int(file.Fd())
	if syscall.Flock(descriptor, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(progress, "localkube: another build is running; waiting for it")
		if err := syscall.Flock(descriptor, syscall.LOCK_EX); err != nil {
			return nil, fmt.Errorf("wait for the other build: %w", err)
		}
	}
	return func() { _ = file.Close() }, nil
}

// build compiles the module in folder source into the file target.
func build(ctx context.Context, source, target string, progress io.Writer) error {
	absolute, err := filepath.Abs(target)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "localkube: building Kubernetes %s and etcd; this happens once and takes some minutes\n", localkube.Version)
	file, isFile := progress.(*os.File)
	return gobuild.Build{
		Name: "localkube", Dir: source, Env: []string{"CGO_ENABLED=0", "GOWORK=off"},
		Flags: []string{"-trimpath", "-ldflags", linkerFlags(localkube.Version)}, Packages: []string{"."}, Output: absolute,
		Progress: progress, Terminal: isFile && term.IsTerminal(int(file.Fd())),
	}.Run(ctx)
}

// linkerFlags put the version into the program, as Kubernetes' own builds do:
// without it every component calls itself v0.0.0.
func linkerFlags(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	const at = "k8s.io/component-base/version."
	return strings.Join([]string{
		"-s", "-w",
		"-X", at + "gitVersion=" + version,
		"-X", at + "gitMajor=" + parts[0],
		"-X", at + "gitMinor=" + parts[1],
		"-X", at + "gitTreeState=clean",
	}, " ")
}
