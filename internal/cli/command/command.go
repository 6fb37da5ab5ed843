// Package command is what the commands of this program have in common: what they
// read and write, and how they end.
package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// The exit codes other than 0, of usage.Codes.
const (
	// Found says that there is what the command looks for, such as differences.
	Found = usage.Refused
	// Unusable says that the input cannot be used.
	Unusable = usage.Unusable
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

// Print writes a text to the output.
func (s Streams) Print(text string) error { return Write(s.Out, text) }

// Write writes a text to one of the streams.
func Write(to io.Writer, text string) error {
	if _, err := io.WriteString(to, text); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// PrintJSON writes a document for programs to the output.
func (s Streams) PrintJSON(document any) error {
	encoder := json.NewEncoder(Raw(s.Out))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// NoArgs refuses arguments, with the exit code of unusable input.
func NoArgs(streams Streams) cobra.PositionalArgs {
	return Spoken(streams, func(command *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("%s takes no arguments, and got %q; see %s --help", command.CommandPath(), args[0], command.CommandPath())
		}
		return nil
	})
}

// Spoken makes a command say its error itself. One of which CodeOf knows nothing is about the
// input: it has exit code 2, because 1 says that something was found.
func Spoken(streams Streams, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		err := run(command, args)
		if err == nil {
			return nil
		}
		if said, ok := errors.AsType[*Exit](err); ok {
			return said
		}
		return streams.Unusable(err)
	}
}

// Unusable says why the input cannot be used, and is the end of the program.
func (s Streams) Unusable(err error) error { return s.Refuse(Unusable, err) }

// Refuse says why the program ends, and is that end. The exit code is that of CodeOf, which is code
// where the error says nothing of itself.
func (s Streams) Refuse(code int, err error) error {
	// With the error stream gone, the code still tells.
	_, _ = fmt.Fprintf(s.Err, "tabard: %v\n", Shown(err))
	return &Exit{Code: CodeOf(err, code), What: err.Error()}
}
