package app

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

const initLong = `Write the file of a new OIDCIssuer for tabard issuer bootstrap.

The bucket's name has the AWS account of your own session (environment, profile,
SSO: whatever the AWS CLI uses), or a random part if you have no session. Otherwise
others could guess the name and take it first. The command makes nothing in AWS and
calls no cluster.

In a lab, "tabard lab env" sets the variables that name the lab's bucket and issuer.

It prints what to set on kube-apiserver, and the next command. Exit codes: 0 the file is
written, or exists already; 1 a file with other content exists; 2 the flags make no issuer.

With --platform=OpenShift the issuer has the keys of OpenShift's API servers, and it
prints the patch of the cluster's Authentication and what follows from it. For a cluster
that is still to be installed, --output-dir names the installer's folder: there it writes
the OIDCIssuer and manifests/cluster-authentication-02-config.yaml.`

func initCommand() *cobra.Command {
	proposal := cli.Proposal{Random: rand.Reader}
	var force bool
	command := &cobra.Command{
		Use:   "init",
		Short: "Write the file of a new issuer, with a bucket name that is hard to guess",
		Long:  initLong,
		Example: `  tabard issuer init --region eu-central-1

  # for a cluster of another name, without an AWS session, to standard output
  tabard issuer init --name prod --region eu-central-1 --account 123456789012 -f -

  # for a cluster of OpenShift that runs
  tabard issuer init --platform=OpenShift --name prod --region eu-central-1

  # for one that is to be installed from the folder prod
  tabard issuer init --platform=OpenShift --name prod --region eu-central-1 --output-dir prod`,
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
				defer waitingForAWS()()
				account, _, err := caller.New(auth).Caller(ctx, identity.Identity{Base: identity.Session}.In(region))
				return account, err
			}
			proposal.Say = cmd.ErrOrStderr()
			proposal.Write = func(files ...cli.File) error {
				return writer{out: cmd.OutOrStdout(), replace: force, folders: proposal.OutputDir != ""}.all(files)
			}
			err = proposal.Run(cmd.Context())
			if _, unusable := errors.AsType[cli.Unusable](err); unusable {
				return program.Unusable(err)
			}
			return err
		},
	}
	f := command.Flags()
	f.StringVarP(&proposal.File, "filename", "f", "", "the file to write; - is standard output (default: "+cli.IssuerFile+")")
	f.StringVar((*string)(&proposal.Platform), "platform", string(platform.Kubernetes), "Kubernetes or OpenShift: where the keys are, and what is to be set")
	f.StringVar(&proposal.OutputDir, "output-dir", "", "the folder of an installation of OpenShift, for its manifest and the OIDCIssuer; it is made if it is not there")
	f.BoolVar(&force, "force", false, "replace files that are there")
	f.StringVar(&proposal.Name, "name", "cluster", "the OIDCIssuer's name, with which the bucket's begins")
	f.StringVar(&proposal.Region, "region", "", "the bucket's region (default: $AWS_REGION)")
	f.StringVar(&proposal.Account, "account", "", "the AWS account in the bucket's name (default: that of your session)")
	f.StringVar(&proposal.Bucket, "bucket", os.Getenv("TABARD_ISSUER_BUCKET"), "the bucket's name (default: $TABARD_ISSUER_BUCKET, else NAME-oidc-ACCOUNT)")
	f.StringVar(&proposal.URL, "url", os.Getenv("TABARD_ISSUER_URL"), "the issuer's `URL`, such as a CDN's (default: $TABARD_ISSUER_URL, else that of the bucket)")
	return command
}

// writer writes files that anybody may read.
type writer struct {
	out io.Writer
	// replace replaces files that are there, and folders makes those that are not.
	replace, folders bool
}

// all writes files, or none if one of them is there with another content and is not to be replaced.
func (w writer) all(files []cli.File) error {
	for _, file := range files {
		if _, err := os.Lstat(file.Name); err == nil && !w.replace && file.Name != cli.StandardOutput && !isWritten(file) {
			return &fs.PathError{Op: "write", Path: file.Name, Err: fs.ErrExist}
		}
	}
	for _, file := range files {
		if file.Name != cli.StandardOutput && isWritten(file) {
			continue
		}
		if err := w.one(file); err != nil {
			return w.named(file).Refuse(err)
		}
	}
	return nil
}

// named is a file by the flag that names it or its folder.
func (w writer) named(file cli.File) command.File {
	if w.folders {
		return command.File{By: "--output-dir", Path: filepath.Dir(file.Name), Expected: "a folder in which files can be made"}
	}
	return command.File{By: "-f", Path: file.Name, Expected: "a file in a folder that is there, or - for the standard output"}
}

// isWritten says that a file is there with the content that it would get.
func isWritten(file cli.File) bool {
	there, err := os.ReadFile(file.Name)
	return err == nil && string(there) == file.Content
}

// one writes a file. One that somebody has made since all looked is not replaced either.
func (w writer) one(file cli.File) error {
	if file.Name == cli.StandardOutput {
		_, err := io.WriteString(w.out, file.Content)
		return err
	}
	if w.folders {
		if err := os.MkdirAll(filepath.Dir(file.Name), 0o700); err != nil {
			return err
		}
	}
	how := os.O_EXCL
	if w.replace {
		how = os.O_TRUNC
	}
	opened, err := os.OpenFile(file.Name, os.O_WRONLY|os.O_CREATE|how, 0o644) //nolint:gosec // it holds no secret
	if err != nil {
		return err
	}
	_, err = io.WriteString(opened, file.Content)
	return errors.Join(err, opened.Close())
}
