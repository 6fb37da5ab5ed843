package usage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Execute runs a prepared command. Its error is also why there is no help, of which cobra's functions
// for help return none.
func Execute(ctx context.Context, root *cobra.Command, args []string) error {
	root.SetArgs(args)
	var helpless error
	if err := root.ExecuteContext(context.WithValue(ctx, helplessKey{}, &helpless)); err != nil {
		return err
	}
	return helpless
}

// helplessKey is of the context's value that takes why there is no help: cobra's functions for
// help return no error.
type helplessKey struct{}

// Prepare makes a command and all below it say what they cannot use, once and in our
// words.
func Prepare(root *cobra.Command) {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return wrongUse(cmd, ExplainFlag(err))
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
					return Wrong(err)
				}
				return namesHelp(found, words)
			}
		}
	}
}

// wrongUse is an error about what was typed, with the command that tells what can be.
func wrongUse(of *cobra.Command, err error) error {
	return Wrong(fmt.Errorf("%w; see %s --help", err, of.CommandPath()))
}

// namesHelp refuses a word that names no command where help is asked for: cobra gives the help of
// the command above it.
func namesHelp(command *cobra.Command, words []string) error {
	if !command.HasSubCommands() {
		return nil
	}
	if err := namesCommand(command, words); err != nil {
		return wrongUse(command, err)
	}
	return nil
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
		err := takes(cmd, args)
		if err == nil {
			// cobra does so next, and does not say that these are wrong uses.
			err = errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
		}
		if err != nil && !IsWrong(err) { // else it says already what to type
			return wrongUse(cmd, err)
		}
		return err
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
	if like := command.SuggestionsFor(args[0]); args[0] != "" && len(like) > 0 {
		text += fmt.Sprintf(", expected %s", strings.Join(like, " or "))
	}
	return errors.New(text)
}
