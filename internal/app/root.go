// Package app wires Tabard together: configuration, the scheme, the manager,
// the one visible list of controllers, and the commands with what they need of
// the world. Nothing but cmd and tests imports it.
package app

import (
	"time"

	"os"
	"slices"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/app/ekstoken"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/app/webhook"
	"github.com/tabard-dev/tabard/internal/cli/completion"
	"github.com/tabard-dev/tabard/internal/cli/decode"
	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/cli/policy"
	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// Main runs the command that args name, of all that are in a cluster's program and the
// extra ones, and returns the exit code.
func Main(args []string, extra program.Extra) int {
	if program.Completes(os.Args[0]) {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root := rootCommand(os.Args[0], extra)
	if isProcess(root, args) {
		return program.Run(root, args)
	}
	silenceLibraries()
	// The extra commands start programs, and end them.
	if isOf(root, args, extra.Use) {
		return program.Run(root, args)
	}
	return program.RunAtOnce(root, args)
}

// isOf says that the arguments run one of the commands, or one below it.
func isOf(root *cobra.Command, args []string, commands []*cobra.Command) bool {
	found, _, err := root.Find(args)
	for ; err == nil && found != nil; found = found.Parent() {
		if slices.Contains(commands, found) {
			return true
		}
	}
	return false
}

// isProcess says that the arguments run one of the processes, which have a log.
func isProcess(root *cobra.Command, args []string) bool {
	found, _, err := root.Find(args)
	for err == nil && found.HasParent() && found.Parent() != root {
		found = found.Parent()
	}
	return err == nil && found.GroupID == groupProcess
}

// silenceLibraries keeps what client-go and controller-runtime log from who has typed a command:
// the command says what matters of it in its own words. The latter complains, with a stack trace,
// of a program that has run for 30 seconds and has not said where to log.
func silenceLibraries() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
}

// The groups of commands: those that people type, and those that run in a cluster.
const (
	groupUse     = "use"
	groupProcess = "process"
)

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
standard error. No output has colours, so NO_COLOR changes nothing.

` + usage.Sentence() + extra.Hint,
		Version: program.Version,
	}
	root.AddGroup(&cobra.Group{ID: groupUse, Title: "Commands:"}, &cobra.Group{ID: groupProcess, Title: "Processes:"})
	add(root, groupUse, issuerCommand(), eks.New(ekstoken.World()), policy.New(program.StandardStreams()), selectorCommand(), explainCommand(), decode.New(program.StandardStreams(), time.Now), migrateCommand(), credentialsCommand(), hubCommand(), operatorsCommand(), consoleCommand(), readyCommand(), versionCommand())
	add(root, groupUse, extra.Use...)
	add(root, groupProcess, operatorCommand(), webhook.Command(), ocmWebhookCommand(), capacityCommand())
	add(root, groupProcess, extra.Processes...)
	if program.IsPlugin(name) {
		asPlugin(root)
	}
	addCompletion(root, program.IsPlugin(name))
	usage.Prepare(root)
	completion.Add(root)
	return root
}

func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = group
		root.AddCommand(command)
	}
}
