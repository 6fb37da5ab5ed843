// Command build runs go build with its arguments, and shows a percentage in place of a
// list of packages. A build that has nothing to compile says nothing.
//
//	go run ./hack/build -o bin/ ./cmd/tabard
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/tabard-dev/tabard/hack/gobuild"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	build, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 2
	}
	build.Progress, build.Terminal = os.Stderr, term.IsTerminal(int(os.Stderr.Fd()))
	if err := build.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 1
	}
	return 0
}

// parse reads the command line.
func parse(args []string) (gobuild.Build, error) {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	output := flags.String("o", "", "the file or the folder to write")
	linker := flags.String("ldflags", "", "the linker's flags")
	if err := flags.Parse(args); err != nil {
		return gobuild.Build{}, fmt.Errorf("%w; the flags are -o and -ldflags", err)
	}
	if *output == "" || flags.NArg() == 0 {
		return gobuild.Build{}, errors.New("no -o, or no package; call it as: go run ./hack/build -o bin/ ./cmd/tabard")
	}
	return gobuild.Build{Name: "build", Output: *output, Flags: []string{"-ldflags", *linker}, Packages: flags.Args()}, nil
}
