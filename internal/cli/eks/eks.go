// Package eks is the commands that make EKS tokens, for people and for the exec stanzas
// of kubeconfigs.
package eks

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
)

// Wish is the token that is asked for. Empty fields were not given.
type Wish struct {
	// Cluster is the cluster's name, Region that of STS.
	Cluster, Region string
	// RoleARN is the role to become, with ExternalID and SessionName.
	RoleARN, ExternalID, SessionName string
	// Profile is the one of AWS's shared files.
	Profile string
}

// World is what the commands need of the process.
type World struct {
	Out    io.Writer
	Getenv func(string) string
	// Mint makes a token, and says when a client must have another.
	Mint func(context.Context, Wish) (token string, expiry time.Time, err error)
	// Install copies the running program to a path.
	Install func(path string) error
}

// asked are the flags of a command.
type asked struct {
	Wish
	output    string
	tokenOnly bool
	// all are the flags of aws that are refused when they are set.
	all *pflag.FlagSet
}

// common are the flags that aws takes before its commands, too.
func (a *asked) common(flags *pflag.FlagSet) {
	flags.StringVar(&a.Region, "region", "", "region of the cluster (default: that of the environment or of the profile)")
	flags.StringVar(&a.Profile, "profile", "", "profile in AWS's shared files; empty: AWS_PROFILE")
	flags.StringVar(&a.output, "output", "json", "the format of the token; clients of the API server read json only")
}

// token are the flags of the token itself. An exec stanza that Open Cluster Management
// writes has --role, which aws takes for the beginning of --role-arn.
func (a *asked) token(flags *pflag.FlagSet, short bool) {
	cluster, role, external, session := "", "", "", ""
	if short {
		cluster, role, external, session = "i", "r", "e", "s"
	}
	flags.StringVarP(&a.Cluster, "cluster-name", cluster, "", "name of the cluster (also --cluster-id)")
	flags.StringVarP(&a.RoleARN, "role-arn", role, "", "ARN of the role to assume first (also --role); empty: none")
	flags.StringVarP(&a.ExternalID, "external-id", external, "", "external ID that the role demands")
	flags.StringVarP(&a.SessionName, "session-name", session, "", "name of the role's session; empty: EKSGetTokenAuth")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "role":
			name = "role-arn"
		case "cluster-id":
			name = "cluster-name"
		}
		return pflag.NormalizedName(name)
	})
}

// run answers the client of the API server.
func (a *asked) run(ctx context.Context, w World) error {
	if a.output != "json" {
		return usage.Wrong(fmt.Errorf("the output is %q; it must be json", a.output))
	}
	if err := a.refused(); err != nil {
		return err
	}
	token, expiry, err := w.Mint(ctx, a.Wish)
	if err != nil {
		return err
	}
	answer := []byte(token)
	if !a.tokenOnly {
		if answer, err = ekstoken.ExecCredential(w.Getenv("KUBERNETES_EXEC_INFO"), token, expiry); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w.Out, "%s\n", answer); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	return nil
}

// New is the command eks of tabard.
func New(w World) *cobra.Command {
	a := &asked{}
	group := &cobra.Command{
		Use:   "eks",
		Short: "Tokens for EKS clusters",
		Long:  "Make tokens for EKS clusters and clusters with aws-iam-authenticator.",
	}
	get := a.getToken(w, "tabard eks get-token")
	a.common(get.Flags())
	a.others(get.Flags())
	group.AddCommand(get)
	return group
}

func (a *asked) getToken(w World, name string) *cobra.Command {
	get := &cobra.Command{
		Use:   "get-token",
		Short: "Print a token for a cluster, as aws eks get-token does",
		Long: `Print a token for a cluster as an ExecCredential, which kubectl and other clients
read from the program in a kubeconfig's exec stanza.

Credentials are those of the environment: an access key, a web identity or a pod
identity association, or a profile of AWS's shared files. With AWS_CONFIG_FILE or
AWS_SHARED_CREDENTIALS_FILE set, the files win. Nothing is kept on disk: a client
keeps the token until its expirationTimestamp.`,
		Example: "  # for a kubeconfig's exec stanza\n  " + name +
			" --region us-west-2 --cluster-name eks-hub --role-arn arn:aws:iam::111111111111:role/hub",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), w) },
	}
	a.token(get.Flags(), false)
	return get
}
