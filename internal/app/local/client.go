package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/app/program"
	labcommand "github.com/tabard-dev/tabard/internal/cli/lab"
	"github.com/tabard-dev/tabard/internal/lab"
)

func awslocalEnvCommand(dir *string) *cobra.Command {
	var account, format string
	command := &cobra.Command{
		Use:   "env",
		Short: "Print what a shell or a .env file needs to use a running local AWS",
		Long: `Print the variables of an administrator of the local AWS that runs with the same
--dir, access key included. Variables that would take precedence over that key or the
endpoint are unset. It waits up to 5 seconds for a local AWS that has just been started.`,
		Example: `  eval "$(tabard awslocal env --dir ./aws)"
  tabard awslocal env --dir ./aws -o fish | source
  tabard awslocal env --dir ./aws -o dotenv > .env`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := labcommand.CheckEnvironmentFormat(format); err != nil {
				return program.Unusable(err)
			}
			folder, err := readFolder(cmd.Context(), *dir)
			if err != nil {
				return err
			}
			environment, err := environmentOf(folder, account)
			if err != nil {
				return err
			}
			return environment.Write(cmd.OutOrStdout(), format)
		},
	}
	command.Flags().StringVar(&account, "account", "", "the `account` whose administrator's key is printed (default: the first)")
	labcommand.AddEnvironmentFormat(command, &format)
	return command
}

func awslocalJournalCommand(dir *string) *cobra.Command {
	var flags labcommand.JournalFlags
	command := &cobra.Command{
		Use:     "journal",
		Short:   "Print who asked a running local AWS for what, and why it refused",
		Long:    labcommand.JournalLong,
		Example: `  tabard awslocal journal --dir ./aws --refused`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.Check(); err != nil {
				return program.Unusable(err)
			}
			folder, err := readFolder(cmd.Context(), *dir)
			if err != nil {
				return err
			}
			entries, err := folder.Journal(cmd.Context())
			if err != nil {
				return err
			}
			return lab.WriteJournal(cmd.OutOrStdout(), entries, flags.Refused, flags.Format)
		},
	}
	flags.Add(command)
	return command
}

// starting is how long a local AWS may take from its start until it serves: shells type its
// command with an ampersand, and this one behind it.
const starting = 5 * time.Second

// readFolder finds the local AWS that runs with a folder, or is about to.
func readFolder(ctx context.Context, dir string) (awslocal.Folder, error) {
	if dir == "" {
		return awslocal.Folder{}, noDir("name the folder that the running \"tabard awslocal --dir\" has")
	}
	var folder awslocal.Folder
	var err error
	_ = wait.PollUntilContextTimeout(ctx, starting/100, starting, true, func(ctx context.Context) (bool, error) {
		folder, err = awslocal.ReadFolder(ctx, dir)
		return !errors.Is(err, awslocal.ErrNotServing), nil
	})
	if errors.Is(err, awslocal.ErrNotServing) {
		return folder, program.Unusable(fmt.Errorf("%w; start it with \"tabard awslocal --dir %s\"", err, dir))
	}
	return folder, err
}

// environmentOf is what a client of the local AWS needs; an empty account is the first.
func environmentOf(folder awslocal.Folder, account string) (lab.Environment, error) {
	if account == "" && len(folder.Accounts) > 0 {
		account = folder.Accounts[0]
	}
	if !slices.Contains(folder.Accounts, account) {
		return lab.Environment{}, program.Unusable(fmt.Errorf("--account %q is not one of this local AWS; it has %v", account, folder.Accounts))
	}
	key, err := folder.Administrator(account)
	if err != nil {
		return lab.Environment{}, err
	}
	token, err := folder.AdminToken()
	if err != nil {
		return lab.Environment{}, err
	}
	return lab.Environment{
		Set: []lab.Variable{
			{Name: "AWS_ENDPOINT_URL", Value: folder.URL}, {Name: "AWS_CA_BUNDLE", Value: folder.CAFile()},
			// boto3 and the AWS CLI read the second name.
			{Name: "AWS_REGION", Value: folder.Region}, {Name: "AWS_DEFAULT_REGION", Value: folder.Region},
			{Name: "AWS_ACCESS_KEY_ID", Value: key.AccessKeyID}, {Name: "AWS_SECRET_ACCESS_KEY", Value: key.SecretAccessKey},
			{Name: "AWSLOCAL_ADMIN_TOKEN", Value: token},
		},
		Unset: lab.Outranking(os.Environ()),
	}, nil
}
