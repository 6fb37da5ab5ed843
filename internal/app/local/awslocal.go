package local

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/app/program"
)

func awslocalCommand() *cobra.Command {
	var options awslocal.RunOptions
	var level string
	command := &cobra.Command{
		Use:   "awslocal",
		Short: "Run the local AWS: STS, IAM and S3 that verify and say no",
		Long: `Run a local AWS. It verifies signatures and tokens, fetches the issuer's documents
over TLS, and evaluates trust, identity and bucket policies. A call that it does not
implement is refused with an error that names the call.

The accounts exist in this process only. Each starts with one user, administrator, whose
key is in administrators.json in --dir.

The admin API (clock, faults, journal, state) takes the secret in the file admin-token in
--dir as a bearer token. Only the file's owner can read it.

State is in memory and ends with the process, unless --state names a file for it.
That file holds all secrets of the accounts.`,
		Example: `  tabard awslocal --dir ./aws &
  eval "$(tabard awslocal env --dir ./aws)"
  aws sts get-caller-identity`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := program.NewLogger(os.Stderr, level)
			if err != nil {
				return err
			}
			if options.Dir == "" {
				return noDir("the certificate and the administrators' keys are kept there")
			}
			options.Logger, options.Stdout = logger, cmd.OutOrStdout()
			return awslocal.Run(cmd.Context(), options)
		},
	}
	f := command.Flags()
	f.StringVar(&options.Listen, "listen", "127.0.0.1:4566", "address to serve TLS on; empty: no TLS")
	f.StringVar(&options.ListenPlain, "listen-plain", "", "address to serve plain HTTP on; empty: none")
	command.PersistentFlags().StringVar(&options.Dir, "dir", "", "folder for the certificate authority and the administrators' keys")
	f.StringVar(&options.AdminTokenFile, "admin-token-file", "", "file with the secret that the admin API wants, made where it does not exist; empty: admin-token in --dir")
	f.StringVar(&options.State, "state", "", "file in which all state is kept, so that it survives a restart; empty: in memory only")
	f.StringSliceVar(&options.Accounts, "account", []string{"123456789012"}, "account to have; repeat for several")
	f.StringVar(&options.Region, "region", "us-east-1", "region of calls that name none")
	f.IntVar(&options.RolesPerAccount, "roles-per-account", 1000, "how many roles an account may have; AWS raises the quota on request")
	f.BoolVar(&options.FetchThumbprints, "fetch-thumbprints", false, "make a new OIDC provider without thumbprints get its server's, as AWS does; the server must answer then")
	f.StringVar(&level, "log-level", "info", "debug, info, warn or error")
	command.AddCommand(awslocalEnvCommand(&options.Dir), awslocalJournalCommand(&options.Dir))
	return command
}

// noDir says that --dir is missing, and what it is for.
func noDir(purpose string) error {
	return program.Unusable(fmt.Errorf("--dir is required: %s", purpose))
}
