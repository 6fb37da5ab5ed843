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

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// Version is set when a release is built.
var Version = "devel"

// Commit is what is built, empty where changes are not committed.
var Commit string

// CommitDate is the time of the commit.
var CommitDate string

// Exit codes of all programs.
const (
	ExitFine     = 0
	ExitRefused  = 1
	ExitUnusable = 2
)

// unusable is input that cannot be used at all.
type unusable struct{ error }

// Unwrap gives the reason.
func (e unusable) Unwrap() error { return e.error }

// Unusable says that an error is about input that cannot be used at all.
func Unusable(err error) error { return unusable{err} }

// Extra is what a program has beside the commands that every one has.
type Extra struct {
	Use, Processes []*cobra.Command
	// Hint ends the text about the program.
	Hint string
}

// Run runs a prepared command with its arguments and returns the exit code: 0 fine, 1 findings
// or refused, 2 unusable input. SIGINT and SIGTERM end it in order, a second one at
// once.
func Run(root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root.SetArgs(args)
	var helpless error
	if err := root.ExecuteContext(context.WithValue(ctx, helplessKey{}, &helpless)); err != nil {
		return ExitCode(StandardStreams().Err, err)
	}
	return ExitCode(StandardStreams().Err, helpless)
}

// helplessKey is of the context's value that takes why there is no help: cobra's functions for
// help return no error.
type helplessKey struct{}

// Prepare makes a command and all below it say what they cannot use, once and in our
// words.
func Prepare(root *cobra.Command) {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return Unusable(fmt.Errorf("%w; see %s --help", ExplainFlag(err), cmd.CommandPath()))
	})
	refuseArguments(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if err := namesHelp(cmd, cmd.Flags().Args()); err != nil {
			if helpless, ok := cmd.Context().Value(helplessKey{}).(*error); ok {
				*helpless = err
				return
			}
		}
		help(cmd, args)
	})
	root.InitDefaultHelpCmd()
	for _, below := range root.Commands() {
		if below.Name() == "help" {
			below.Args = func(_ *cobra.Command, args []string) error {
				found, words, err := root.Find(args)
				if err != nil {
					return Unusable(err)
				}
				return namesHelp(found, words)
			}
		}
	}
}

// namesHelp refuses a word that names no command where help is asked for: cobra gives the help of
// the command above it.
func namesHelp(command *cobra.Command, words []string) error {
	if !command.HasSubCommands() {
		return nil
	}
	if err := namesCommand(command, words); err != nil {
		return Unusable(fmt.Errorf("%w; see %s --help", err, command.CommandPath()))
	}
	return nil
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
	if _, is := errors.AsType[unusable](err); is {
		return ExitUnusable
	}
	return ExitRefused
}

// refuseArguments makes arguments that a command cannot take unusable input, in
// it and all below it, and words that name no command.
func refuseArguments(command *cobra.Command) {
	takes := command.Args
	if takes == nil {
		takes = cobra.ArbitraryArgs
		if command.HasSubCommands() && !command.Runnable() {
			command.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			takes = namesCommand
		}
	}
	command.Args = func(cmd *cobra.Command, args []string) error {
		if err := takes(cmd, args); err != nil {
			return Unusable(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
		}
		return nil
	}
	for _, below := range command.Commands() {
		refuseArguments(below)
	}
}

// namesCommand refuses a word where a command should stand, and names the commands
// that are like it.
func namesCommand(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	command.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("unknown command %q for %q", args[0], command.CommandPath())
	if like := command.SuggestionsFor(args[0]); len(like) > 0 {
		text += fmt.Sprintf(", expected %s", strings.Join(like, " or "))
	}
	return errors.New(text)
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
