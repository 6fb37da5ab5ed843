// Command suite runs the tests of several modules and says as it goes how far it is:
// each package as it ends, and every twenty seconds the one that has run longest. At
// the end come the slowest packages, and the names of the tests that failed.
//
//	go run ./hack/suite . iampolicy          # the modules in these folders
//	go run ./hack/suite --packages ./hack/... .  # some packages of a module
//	go run ./hack/suite --cpu --count 1 .    # with each package's CPU time
//
// Exit codes: 0 all passed, 1 a test failed, 2 the tests could not be run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// options are what the command is told.
type options struct {
	modules []string
	// packages are patterns in the only module; none means all of each module.
	packages []string
	// without are packages that are left out, by their folders below the root.
	without []string
	// run and skip choose tests as the flags of "go test" do.
	run, skip string
	// parallel is how many packages of the first module run at a time.
	parallel int
	// count is that of "go test"; 0 lets results come from its cache.
	count int
	// timeout is how long a package may take.
	timeout time.Duration
	// cpu measures each package's CPU time.
	cpu bool
	// keep is the folder in which linked test programs are kept; empty is none.
	keep string
}

func main() {
	runForGo(os.Args)
	os.Exit(start())
}

// runForGo does what the go command starts this one for, and ends it; else it returns.
func runForGo(args []string) {
	switch {
	case len(args) > 2 && args[1] == measured:
		os.Exit(measure(args[2:]))
	case len(args) > 3 && args[1] == keeping:
		os.Exit(keep(args[2:]))
	}
}

// ended is the exit code of what the go command has started this one for.
func ended(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "suite:", err)
	return 2
}

// start runs the command until it is interrupted, and returns the exit code.
func start() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
	}
	return code
}

func parse(args []string) (o options, err error) {
	flags := pflag.NewFlagSet("suite", pflag.ContinueOnError)
	flags.StringSliceVar(&o.packages, "packages", nil, "patterns of packages, of one module")
	flags.StringSliceVar(&o.without, "without", nil, "folders whose packages are left out")
	flags.StringVar(&o.run, "run", "", "run only the tests of this name, as go test")
	flags.StringVar(&o.skip, "skip", "", "leave out the tests of this name, as go test")
	flags.IntVarP(&o.parallel, "parallel", "p", 5, "packages of the first module at a time: tests wait for half of their time")
	flags.IntVar(&o.count, "count", 0, "run each test this many times, past the cache of results")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long a package may take")
	flags.BoolVar(&o.cpu, "cpu", false, "measure the CPU time of each package with all that it starts")
	flags.StringVar(&o.keep, "keep", "", "folder for the last test program of each package, so that none is linked again that is as before")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.keep != "" {
		if o.keep, err = filepath.Abs(o.keep); err != nil {
			return o, err
		}
	}
	o.modules = flags.Args()
	if len(o.modules) == 0 || len(o.packages) > 0 && len(o.modules) > 1 {
		return o, errors.New("expected the folders of modules, and one only with --packages")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	o, err := parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return 0, nil
	}
	if err != nil {
		return 2, err
	}
	var all []module
	total := 0
	for _, folder := range o.modules {
		one, err := list(ctx, folder, o)
		if err != nil {
			return 2, err
		}
		if len(one.packages) > 0 {
			all = append(all, one)
			total += len(one.packages)
		}
	}
	figures, err := os.MkdirTemp("", "suite-")
	if err != nil {
		return 2, err
	}
	defer func() { _ = os.RemoveAll(figures) }()
	s := newSuite(total, time.Now(), out)
	err = s.test(ctx, all, o, filepath.Join(figures, "cpu"))
	cpu, unread := cpuTimes(all, filepath.Join(figures, "cpu"))
	s.finish(time.Now(), cpu)
	if err := errors.Join(err, unread); err != nil {
		return 2, err
	}
	if len(s.failures) > 0 {
		return 1, nil
	}
	return 0, nil
}

// cpuTimes are the CPU seconds of packages by their names.
func cpuTimes(modules []module, file string) (map[string]float64, error) {
	byFolder, err := readFigures(file)
	out := map[string]float64{}
	for _, m := range modules {
		for folder, name := range m.names {
			if seconds, is := byFolder[folder]; is {
				out[name] = seconds
			}
		}
	}
	return out, err
}
