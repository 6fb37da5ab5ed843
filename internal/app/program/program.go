// Package program is what all programs of Tabard share: how they start and end, log, read
// flags, and find their cluster and their memory. It brings nothing else with it: what a
// program links it pays for, in memory as in what is pulled.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// Version is set when a release is built.
var Version = "devel"

// Commit is what is built, empty where changes are not committed.
var Commit string

// CommitDate is the time of the commit.
var CommitDate string

// Exit codes of all programs.
const (
	ExitFine     = usage.Fine
	ExitRefused  = usage.Refused
	ExitUnusable = usage.Unusable
)

// Unusable says that an error is about input that cannot be used at all.
func Unusable(err error) error { return usage.Wrong(err) }

// Extra is what a program has beside the commands that every one has.
type Extra struct {
	Use, Processes []*cobra.Command
	// Hint ends the text about the program.
	Hint string
}

// Run runs a prepared command with its arguments and returns the exit code, one of usage.Codes
// or that of a program that the command ran. SIGINT and SIGTERM end it in order, a second one at
// once.
func Run(root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, root, args)
}

// grace is the time that an interrupted command of RunAtOnce has to say what it has done.
const grace = time.Second

// RunAtOnce is Run for commands that leave nothing to tidy up. One that a signal does not reach, because
// it reads the standard input or a library asks the cluster without a context, ends a second after the first.
func RunAtOnce(root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	code := make(chan int, 1)
	go func() { code <- run(ctx, root, args) }()
	select {
	case ended := <-code:
		return ended
	case <-ctx.Done():
	}
	select {
	case ended := <-code:
		return ended
	case <-time.After(grace):
		return ExitCode(StandardStreams().Err, context.Canceled)
	}
}

func run(ctx context.Context, root *cobra.Command, args []string) int {
	return ExitCode(StandardStreams().Err, usage.Execute(ctx, root, args))
}

// ExitCode tells of an error, unless all has been said already, and is the exit code
// that it makes.
func ExitCode(stderr io.Writer, err error) int {
	if err == nil {
		return ExitFine
	}
	// Of this one all has been said already. The end of another program, which has an
	// exit code too, has not.
	if said, ok := errors.AsType[*command.Exit](err); ok {
		return said.ExitCode()
	}
	fmt.Fprintln(stderr, "tabard:", command.Shown(err))
	return command.CodeOf(err, ExitRefused)
}

// StandardStreams are those of the process.
func StandardStreams() command.Streams {
	if IsPlugin(os.Args[0]) {
		return command.Streams{In: os.Stdin, Out: command.PluginWriter{To: os.Stdout}, Err: command.PluginWriter{To: os.Stderr}}
	}
	return command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
}

// IsPlugin says that kubectl calls the program, or somebody by the name that kubectl calls.
func IsPlugin(path string) bool { return base(path) == "kubectl-tabard" || Completes(path) }

// Completes says that kubectl calls the program to complete the plugin's arguments
// (https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/).
func Completes(path string) bool { return base(path) == "kubectl_complete-tabard" }

// base is the name by which a program is called; on Windows it ends in .exe.
func base(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }
