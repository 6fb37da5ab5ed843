// Package migrate is the commands "tabard migrate …": what takes the place of
// another mechanism, and the proof that it does the same.
package migrate

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// Connect makes a client of a cluster by a kubeconfig.
type Connect func(kubeconfig *command.Kubeconfig) (dynamic.Interface, error)

// New returns the command "migrate" with its sub-commands. Every error of theirs
// but those about flags is a *command.Exit, which has been said already.
func New(streams command.Streams, connect Connect) *cobra.Command {
	command := &cobra.Command{
		Use:          "migrate",
		Short:        "Migrate from another mechanism to role selectors, with a proof that no role changes",
		SilenceUsage: true, SilenceErrors: true,
	}
	command.AddCommand(newCARM(streams, connect))
	return command
}
