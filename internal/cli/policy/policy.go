// Package policy is the commands "tabard policy …": they look for mistakes in
// IAM policy documents and decide requests, without an account.
package policy

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// New returns the command "policy" with its sub-commands. An error of theirs that is
// a *command.Exit has been said already: 1 for findings, 2 for unusable input. Any
// other is about the arguments or the output, and for the caller to say.
func New(streams command.Streams) *cobra.Command {
	policy := &cobra.Command{
		Use:   "policy",
		Short: "Check IAM policies, and evaluate requests against them",
		Long: "Finds mistakes in IAM policy documents, and evaluates requests against them as AWS does.\n" +
			"Needs no account and no network.",
		SilenceUsage: true, SilenceErrors: true,
	}
	policy.AddCommand(newCheck(streams), newEval(streams))
	return policy
}

// open opens the file of an argument, "-" being the input.
func open(streams command.Streams, name, expected string) (io.ReadCloser, error) {
	return command.File{By: "FILE", Path: name, Expected: expected}.Open(streams.In)
}
