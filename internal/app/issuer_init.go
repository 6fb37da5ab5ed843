package app

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
)

func initCommand() *cobra.Command {
	proposal := cli.Proposal{Random: rand.Reader}
	var force bool
	command := &cobra.Command{
		Use:   "init",
		Short: "Write the file of a new issuer, with a bucket name that is hard to guess",
		Long: `Write the file of a new OIDCIssuer for tabard issuer bootstrap.

The bucket's name has the AWS account of your own session (environment, profile,
SSO: whatever the AWS CLI uses), or a random part if you have no session: a name that
others can guess can be taken before you make it. Nothing is made in AWS, and
no cluster is called.

It prints what to set on kube-apiserver, and the next command. Exit codes: 0 the file
is written; 1 the file exists already; 2 no issuer can be made from the flags.`,
		Example: `  tabard issuer init --region eu-central-1

  # for a cluster of another name, without an AWS session, to standard output
  tabard issuer init --name prod --region eu-central-1 --account 123456789012 -f -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			auth, err := newAuth()
			if err != nil {
				return err
			}
			if proposal.Region == "" {
				proposal.Region = auth.Region()
			}
			proposal.Caller = func(ctx context.Context, region string) (string, error) {
				account, _, err := caller.New(auth).Caller(ctx, identity.Identity{Base: identity.Session}.In(region))
				return account, err
			}
			proposal.Say = cmd.ErrOrStderr()
			proposal.Write = func(content string) error { return writeNew(cmd.OutOrStdout(), proposal.File, content, force) }
			err = proposal.Run(cmd.Context())
			if _, unusable := errors.AsType[cli.Unusable](err); unusable {
				return program.Unusable(err)
			}
			return err
		},
	}
	f := command.Flags()
	f.StringVarP(&proposal.File, "filename", "f", "issuer.yaml", "the file to write; - is standard output")
	f.BoolVar(&force, "force", false, "replace the file if it is there")
	f.StringVar(&proposal.Name, "name", "cluster", "the OIDCIssuer's name, with which the bucket's begins")
	f.StringVar(&proposal.Region, "region", "", "the bucket's region (default: $AWS_REGION)")
	f.StringVar(&proposal.Account, "account", "", "the AWS account in the bucket's name (default: that of your session)")
	f.StringVar(&proposal.Bucket, "bucket", "", "the bucket's name (default: NAME-oidc-ACCOUNT)")
	f.StringVar(&proposal.URL, "url", "", "the issuer's URL (default: that of the bucket; a CDN's, or a lab's, if you have one)")
	return command
}

// writeNew writes a file that anybody may read, and replaces none unless told to.
func writeNew(out io.Writer, name, content string, replace bool) error {
	if name == cli.StandardOutput {
		_, err := io.WriteString(out, content)
		return err
	}
	how := os.O_EXCL
	if replace {
		how = os.O_TRUNC
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o644) //nolint:gosec // it holds no secret
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, content)
	return errors.Join(err, file.Close())
}
