// Package policy is the commands "tabard policy …": they look for mistakes in
// IAM policy documents and decide requests, without an account.
package policy

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// The exit codes other than 0.
const (
	exitFindings = 1
	exitUnusable = 2
)

// exit is an error of which all has been said already.
type exit struct {
	code int
	what string
}

// Error implements error.
func (e *exit) Error() string { return e.what }

// ExitCode is the exit code of the program.
func (e *exit) ExitCode() int { return e.code }

// streams are what the commands read and write.
type streams struct {
	in          io.Reader
	out, errOut io.Writer
}

// New returns the command "policy" with its sub-commands. An error of theirs
// that has a method ExitCode has been said on errOut already: 1 for findings, 2
// for unusable input. Any other is about the arguments or the output, and for
// the caller to say.
func New(in io.Reader, out, errOut io.Writer) *cobra.Command {
	s := streams{in: in, out: out, errOut: errOut}
	command := &cobra.Command{
		Use:   "policy",
		Short: "Check IAM policies, and decide requests by them",
		Long: "Looks for mistakes in IAM policy documents, and decides requests by them as AWS would.\n" +
			"Needs no account and no network.",
		SilenceUsage: true, SilenceErrors: true,
	}
	command.AddCommand(newCheck(s), newEval(s))
	return command
}

// unusable says what is wrong with the input.
func (s streams) unusable(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	// With the error stream gone, the code still tells.
	_, _ = fmt.Fprintln(s.errOut, "tabard: "+what)
	return &exit{code: exitUnusable, what: what}
}

// open opens a file, "-" being the input.
func (s streams) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.in), nil
	}
	return os.Open(name)
}
