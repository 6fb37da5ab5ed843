// Package migrate is the commands "tabard migrate …": what takes the place of
// another mechanism, and the proof that it does the same.
package migrate

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
)

// The exit codes other than 0.
const (
	exitDifferent = 1
	exitUnusable  = 2
)

// Exit is an error that names the exit code of the program. What there was to
// say about it has been said.
type Exit struct {
	Code int
	What string
}

// Error implements error.
func (e *Exit) Error() string { return e.What }

// ExitCode is the exit code of the program.
func (e *Exit) ExitCode() int { return e.Code }

// Streams are what the commands read and write.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Connect makes a client of a cluster by a kubeconfig; empty is the usual one.
type Connect func(kubeconfig string) (dynamic.Interface, error)

// New returns the command "migrate" with its sub-commands. Every error of theirs
// but those about flags is an *Exit, which has been said already.
func New(streams Streams, connect Connect) *cobra.Command {
	command := &cobra.Command{
		Use:          "migrate",
		Short:        "Take the place of another mechanism, with a proof that nothing changes",
		SilenceUsage: true, SilenceErrors: true,
	}
	command.AddCommand(newCARM(streams, connect))
	return command
}

// noArgs refuses arguments, with the exit code of unusable input.
func noArgs(streams Streams) cobra.PositionalArgs {
	return spoken(streams, func(command *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("%s takes no arguments, and got %q; see %s --help", command.CommandPath(), args[0], command.CommandPath())
		}
		return nil
	})
}

// spoken makes a command say its error itself: what cannot be used has exit code
// 2, because 1 says that differences were found.
func spoken(streams Streams, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		err := run(command, args)
		if err == nil {
			return nil
		}
		if said, ok := errors.AsType[*Exit](err); ok {
			return said
		}
		// With the error stream gone, the code still tells.
		_, _ = fmt.Fprintf(streams.Err, "tabard: %v\n", err)
		return &Exit{Code: exitUnusable, What: err.Error()}
	}
}
