package gobuild

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/term"
)

// Sources are the files of a Cached program's module that decide what is built, by
// their names in its folder. A Package of another module has no main.go there.
var Sources = []string{"go.mod", "go.sum", "main.go"}

// Cached is a program of other projects' code that is built once per version, into a
// cache outside the checkout.
type Cached struct {
	Name, Version string
	// Source is the folder of its module.
	Source string
	// Package is what is built, of a module that this one requires. Empty is the module's own
	// program, main.go.
	Package string
	// Cache is the folder with all its builds.
	Cache string
	// Started is what is said when a build begins.
	Started string
	// LinkerFlags are added to those that leave out what debuggers need.
	LinkerFlags string
}

// Main builds the program if there is none yet, prints its path as the only line on
// standard output, and returns the exit code. What it does meanwhile goes to standard
// error. It is run in the checkout's root folder.
func (c Cached) Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := c.ensure(ctx, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name, err)
		return 1
	}
	if _, err := fmt.Fprintln(os.Stdout, path); err != nil {
		return 1
	}
	return 0
}

// Key names the build: the version and twelve digits of a hash over the files that
// decide what is built, so that a changed requirement never meets an old program.
func (c Cached) Key() (string, error) {
	hash := sha256.New()
	for _, name := range c.sources() {
		data, err := os.ReadFile(filepath.Join(c.Source, name))
		if err != nil {
			return "", fmt.Errorf("the sources of %s are not complete: %w", c.Name, err)
		}
		// The length keeps bytes from moving from one file to the next unseen.
		fmt.Fprintf(hash, "%s %d\n", name, len(data))
		hash.Write(data)
	}
	return c.Version + "-" + hex.EncodeToString(hash.Sum(nil))[:12], nil
}

func (c Cached) sources() []string {
	if c.Package == "" {
		return Sources
	}
	return slices.DeleteFunc(slices.Clone(Sources), func(name string) bool { return name == "main.go" })
}

// ensure returns the path of the program; it builds if there is none yet.
func (c Cached) ensure(ctx context.Context, progress io.Writer) (string, error) {
	key, err := c.Key()
	if err != nil {
		return "", fmt.Errorf("%w; run this in the root folder of the checkout", err)
	}
	dir := filepath.Join(c.Cache, key)
	path := filepath.Join(dir, c.Name)
	if exists(path) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := c.lock(filepath.Join(dir, "lock"), progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(path) { // another builder was quicker
		return path, nil
	}
	part := path + ".part"
	if err := c.build(ctx, part, progress); err != nil {
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
func (c Cached) lock(path string, progress io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the build's lock: %w", err)
	}
	descriptor := int(file.Fd())
	if syscall.Flock(descriptor, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintf(progress, "%s: another build is running; waiting for it\n", c.Name)
		if err := syscall.Flock(descriptor, syscall.LOCK_EX); err != nil {
			return nil, fmt.Errorf("wait for the other build: %w", err)
		}
	}
	return func() { _ = file.Close() }, nil
}

// build compiles the module into the file target.
func (c Cached) build(ctx context.Context, target string, progress io.Writer) error {
	absolute, err := filepath.Abs(target)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%s: %s\n", c.Name, c.Started)
	file, isFile := progress.(*os.File)
	return Build{
		Name: c.Name, Dir: c.Source, Env: []string{"CGO_ENABLED=0", "GOWORK=off"},
		Flags: []string{"-trimpath", "-ldflags", "-s -w " + c.LinkerFlags}, Packages: []string{cmp.Or(c.Package, ".")}, Output: absolute,
		Progress: progress, Terminal: isFile && term.IsTerminal(int(file.Fd())),
	}.Run(ctx)
}
