package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// product is the path of the root module. Packages are named without it.
const product = "github.com/tabard-dev/tabard/"

// short is the name of a package below the root: that of its folder.
func short(importPath string) string {
	return strings.TrimPrefix(importPath, product)
}

// module is one module with those of its packages that have tests to run.
type module struct {
	folder string
	// packages are import paths, the slowest first: what begins last must be short, or
	// all wait for it alone.
	packages []string
	// names are those of packages by their folders.
	names map[string]string
}

// list finds the packages of a module that have tests to run.
func list(ctx context.Context, folder string, o options) (module, error) {
	patterns := o.packages
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	chosen, err := choose(o.run, o.skip)
	if err != nil {
		return module{}, err
	}
	format := "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}"
	command := exec.CommandContext(ctx, "go", append([]string{"list", "-f", format}, patterns...)...)
	command.Dir = folder
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	if err != nil {
		return module{}, fmt.Errorf("list the packages of %s: %w: %s", folder, err, complaints.String())
	}
	m := module{folder: folder, names: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		name, dir, tested := strings.Cut(strings.TrimSpace(line), " ")
		if !tested || isBelow(short(name), o.without) {
			continue
		}
		if runs, err := chosen.anyIn(dir); err != nil {
			return module{}, err
		} else if runs {
			m.packages = append(m.packages, name)
			m.names[dir] = short(name)
		}
	}
	slices.SortStableFunc(m.packages, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return m, nil
}

// isBelow says that a package is in one of the folders, or below.
func isBelow(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		folder = path.Clean(filepath.ToSlash(folder))
		return name == folder || strings.HasPrefix(name, folder+"/")
	})
}

// place is that of a package among the slowest; all others come after.
func place(importPath string) int {
	if i := slices.Index(slowest, short(importPath)); i >= 0 {
		return i
	}
	return len(slowest)
}

// test runs the tests of modules and says meanwhile how far it is. The first module has
// most of them. Beside it run those of the others, one module after the other and one
// package at a time, so that no module's last package is waited for alone. All modules are
// tested, also after one in which a test failed.
func (s *suite) test(ctx context.Context, modules []module, o options, figures string) error {
	ticking, stop := context.WithCancel(ctx)
	defer stop()
	go s.beat(ticking)
	first, beside := min(1, len(modules)), o
	beside.parallel = 1
	ended := make(chan error, 1)
	go func() { ended <- s.testModules(ctx, modules[first:], beside, figures) }()
	err := s.testModules(ctx, modules[:first], o, figures)
	return errors.Join(err, <-ended)
}

func (s *suite) testModules(ctx context.Context, modules []module, o options, figures string) error {
	for _, m := range modules {
		if err := s.testModule(ctx, m, o, figures); err != nil {
			return err
		}
	}
	return nil
}

// beat says every twenty seconds what still runs.
func (s *suite) beat(ctx context.Context) {
	ticker := time.NewTicker(20 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.say(now)
		}
	}
}

// quoted is a command line as the go command splits it: at blanks, but for those between
// quotes, of which none can be escaped.
func quoted(words ...string) string {
	for i, word := range words {
		quote := "'"
		if strings.Contains(word, quote) {
			quote = `"`
		}
		words[i] = quote + word + quote
	}
	return strings.Join(words, " ")
}

// arguments are those of "go" for a module.
func (m module) arguments(o options, self string) []string {
	args := []string{"test", "-json", "-timeout", o.timeout.String(), "-p", strconv.Itoa(o.parallel)}
	var measurer, keeper string
	if o.cpu {
		measurer = quoted(self, measured)
	}
	if o.keep != "" {
		keeper = quoted(self, keeping, o.keep)
	}
	for _, each := range []struct{ flag, value string }{{"-run", o.run}, {"-skip", o.skip}, {"-exec", measurer}, {"-toolexec", keeper}} {
		if each.value != "" {
			args = append(args, each.flag, each.value)
		}
	}
	count := o.count
	if count == 0 && m.readsOutside() {
		count = 1
	}
	if count > 0 {
		args = append(args, "-count", strconv.Itoa(count))
	}
	return append(args, m.packages...)
}

// readsOutside says that tests of a module read files of the repository that are not the
// module's: manifests, pages, programs. The cache of results does not know of such files
// ("go help test"), and would say that a check of them has passed after they changed.
func (m module) readsOutside() bool {
	folder := filepath.ToSlash(filepath.Clean(m.folder))
	return strings.HasPrefix(folder, "hack/") || strings.HasPrefix(folder, "test/")
}

// testModule runs "go test" in a module. That a test failed is no error.
func (s *suite) testModule(ctx context.Context, m module, o options, figures string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", m.arguments(o, self)...)
	// An interrupt lets the tests stop what they have started.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 30 * time.Second
	command.Dir, command.Stderr, command.Env = m.folder, os.Stderr, append(os.Environ(), figuresVariable+"="+figures)
	reader, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	failed, err := s.read(reader)
	ended := command.Wait()
	if _, exited := errors.AsType[*exec.ExitError](ended); exited && ctx.Err() == nil && failed {
		ended = nil
	}
	return errors.Join(err, ended, ctx.Err())
}

// read takes in what "go test -json" prints, and says whether a test failed.
func (s *suite) read(from io.Reader) (failed bool, err error) {
	for decoder := json.NewDecoder(from); ; {
		var e event
		err := decoder.Decode(&e)
		if errors.Is(err, io.EOF) {
			return failed, nil
		}
		if err != nil {
			return failed, fmt.Errorf("read what go test -json prints: %w", err)
		}
		failed = failed || e.Action == "fail"
		s.take(e, time.Now())
	}
}
