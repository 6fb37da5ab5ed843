package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
)

// JournalFlags are the flags of commands that print a journal.
type JournalFlags struct {
	Refused bool
	Format  string
}

// Add adds the flags to a command.
func (flags *JournalFlags) Add(command *cobra.Command) {
	formats := lab.JournalFormats()
	command.Flags().BoolVar(&flags.Refused, "refused", false, "print only the calls that were refused")
	command.Flags().StringVarP(&flags.Format, "output", "o", formats[0], "the `format`: "+strings.Join(formats, ", "))
	if err := command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was defined one line above
	}
}

// Check refuses a format before anything is read for it.
func (flags *JournalFlags) Check() error {
	if formats := lab.JournalFormats(); !slices.Contains(formats, flags.Format) {
		return fmt.Errorf("-o %q is not a format; want one of %s", flags.Format, strings.Join(formats, ", "))
	}
	return nil
}

// JournalLong is what the commands that print a journal say of it.
const JournalLong = "Prints the calls that the local AWS answered, at most the last 10,000. Of a call with a web identity\n" +
	"token it says the token's subject, audience and issuer, else the caller's ARN. If policies refused the\n" +
	"call, it says which policy and which statement decided, and what in the statement does not fit."

func newJournal(streams command.Streams, folder *folder) *cobra.Command {
	var flags JournalFlags
	command := &cobra.Command{
		Use:     "journal",
		Short:   "Print who asked the lab's local AWS for what, and why it refused",
		Long:    JournalLong,
		Example: "  tabard lab journal --refused",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := flags.Check(); err != nil {
				return streams.Unusable(err)
			}
			loaded, err := folder.load()
			if err != nil {
				return err
			}
			entries, err := loaded.Journal(command.Context())
			if err != nil {
				return err
			}
			return lab.WriteJournal(streams.Out, entries, flags.Refused, flags.Format)
		},
	}
	flags.Add(command)
	return command
}
