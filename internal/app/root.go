// Package app wires Tabard together: configuration, the scheme, the manager,
// the one visible list of controllers, and the commands with what they need of
// the world. Nothing but cmd and tests imports it.
package app

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
	"github.com/tabard-dev/tabard/internal/cli/policy"
)

// version is set when a release is built.
var version = "devel"

// Exit codes of all commands.
const (
	exitFine     = 0
	exitRefused  = 1
	exitUnusable = 2
)

// usageError is input that cannot be used at all.
type usageError struct{ error }

// Unwrap gives the reason.
func (e usageError) Unwrap() error { return e.error }

// Main runs the command that args name and returns the exit code: 0 fine, 1
// findings or refused, 2 unusable input. SIGINT and SIGTERM end it in order, a
// second one at once.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := rootCommand(filepath.Base(os.Args[0]))
	root.SetArgs(args)
	return exitCode(os.Stderr, root.ExecuteContext(ctx))
}

func exitCode(stderr io.Writer, err error) int {
	if err == nil {
		return exitFine
	}
	// Of this one all has been said already. The end of another program, which has an
	// exit code too, has not.
	if said, ok := errors.AsType[*command.Exit](err); ok {
		return said.ExitCode()
	}
	fmt.Fprintln(stderr, "tabard:", err)
	if _, unusable := errors.AsType[usageError](err); unusable {
		return exitUnusable
	}
	return exitRefused
}

func rootCommand(name string) *cobra.Command {
	root := &cobra.Command{
		Use:   "tabard",
		Short: "Cloud identity for Kubernetes without stored keys",
		Long: `Tabard gives Kubernetes workloads, controllers and clusters their cloud identity
without any stored key: an API server signs a short-lived token, the cloud trusts
the issuer, a policy says who may become which role.

Try it on this machine, without a cloud account:

  tabard lab up
  eval "$(tabard lab env)"
  tabard issuer bootstrap -f "$TABARD_LAB_DIR/manifests/issuer.yaml"`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	if name == "kubectl-tabard" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl tabard"}
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", explainFlag(err), cmd.CommandPath())}
	})
	root.AddGroup(&cobra.Group{ID: "use", Title: "Commands:"}, &cobra.Group{ID: "process", Title: "Processes:"})
	add(root, "use", issuerCommand(), policy.New(standardStreams()), selectorCommand(), explainCommand(), migrateCommand(), labCommand())
	add(root, "process", operatorCommand(), webhookCommand(), capacityCommand(), awslocalCommand())
	refuseArguments(root)
	return root
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
			return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
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

func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = group
		root.AddCommand(command)
	}
}
