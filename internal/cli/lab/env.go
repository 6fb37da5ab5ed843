package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
)

func newEnv(streams command.Streams, flags *folder) *cobra.Command {
	var account, format string
	command := &cobra.Command{
		Use:   "env",
		Short: "Print what a shell needs to use a lab: eval \"$(tabard lab env)\"",
		Long: "Prints the variables of the cluster's administrator and of an administrator of the local AWS account,\n" +
			"access key included. Variables that would take precedence over that key or over the endpoint of the\n" +
			"local AWS are unset: profiles, session tokens, web identity, and endpoints of single services.",
		Example: "  eval \"$(tabard lab env)\"\n  tabard lab env -o fish | source\n  tabard lab env -o dotenv > .env",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := CheckEnvironmentFormat(format); err != nil {
				return streams.Unusable(err)
			}
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			environment, err := loaded.Env(account)
			if _, unknown := errors.AsType[*lab.AccountError](err); unknown {
				return streams.Unusable(err)
			}
			if err != nil {
				return err
			}
			return environment.Write(streams.Out, format)
		},
	}
	command.Flags().StringVar(&account, "account", lab.AccountID, "the `account` of the local AWS whose administrator's key is printed")
	AddEnvironmentFormat(command, &format)
	return command
}

// AddEnvironmentFormat adds the flag that chooses the format of an environment.
func AddEnvironmentFormat(command *cobra.Command, format *string) {
	formats := lab.EnvironmentFormats()
	command.Flags().StringVarP(format, "output", "o", formats[0], "the `format`: "+strings.Join(formats, ", "))
	if err := command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was defined one line above
	}
}

// CheckEnvironmentFormat refuses a format before anything is read for it.
func CheckEnvironmentFormat(format string) error {
	if formats := lab.EnvironmentFormats(); !slices.Contains(formats, format) {
		return fmt.Errorf("-o %q is not a format; want one of %s", format, strings.Join(formats, ", "))
	}
	return nil
}
