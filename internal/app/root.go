// Package app wires Tabard together: configuration, the scheme, the manager,
// the one visible list of controllers, and the commands with what they need of
// the world. Nothing but cmd and tests imports it.
package app

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/app/ekstoken"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/app/webhook"
	"github.com/tabard-dev/tabard/internal/cli/completion"
	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/cli/policy"
)

// Main runs the command that args name, of all that are in a cluster's program and the
// extra ones, and returns the exit code.
func Main(args []string, extra program.Extra) int {
	if program.Completes(os.Args[0]) {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return program.Run(rootCommand(os.Args[0], extra), args)
}

// Root is the command tabard, for whoever writes about it.
func Root(extra program.Extra) *cobra.Command { return rootCommand("tabard", extra) }

// rootCommand is the command of a program that is called by a name or path.
func rootCommand(name string, extra program.Extra) *cobra.Command {
	root := &cobra.Command{
		Use:   "tabard",
		Short: "Cloud identity for Kubernetes without stored keys",
		Long: `Tabard gives Kubernetes workloads, controllers and clusters their cloud identity
without any stored key: an API server signs a short-lived token, the cloud trusts
the issuer, a policy says who may become which role.

Results are written to the standard output; progress, warnings and errors to the
standard error. No output has colours, so NO_COLOR changes nothing.` + extra.Hint,
		Version: program.Version,
	}
	root.AddGroup(&cobra.Group{ID: "use", Title: "Commands:"}, &cobra.Group{ID: "process", Title: "Processes:"})
	add(root, "use", issuerCommand(), eks.New(ekstoken.World()), policy.New(program.StandardStreams()), selectorCommand(), explainCommand(), migrateCommand(), credentialsCommand(), hubCommand(), readyCommand(), versionCommand())
	add(root, "use", extra.Use...)
	add(root, "process", operatorCommand(), webhook.Command(), ocmWebhookCommand(), capacityCommand())
	add(root, "process", extra.Processes...)
	if program.IsPlugin(name) {
		asPlugin(root)
	}
	addCompletion(root, program.IsPlugin(name))
	program.Prepare(root)
	completion.Add(root)
	return root
}

func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = group
		root.AddCommand(command)
	}
}
