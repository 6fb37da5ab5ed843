package eks

import (
	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// Program is the command of the program that makes tokens and nothing else. It takes the
// arguments of aws eks get-token and of aws-iam-authenticator token, so it can stand in
// the place of either.
func Program(w World) *cobra.Command {
	a := &asked{}
	root := &cobra.Command{
		Use:   "tabard-eks-token",
		Short: "Make tokens for EKS clusters",
		Long: `Make tokens for EKS clusters, in the place of the programs aws and
aws-iam-authenticator in a kubeconfig's exec stanza.`,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		// A flag that is not known takes the command behind it for its value. As this command
		// can be run, it names that flag, instead of a command that is not there.
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	a.common(root.PersistentFlags())
	a.others(root.PersistentFlags())
	group := &cobra.Command{
		Use: "eks", Short: "The command get-token, where aws has it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(a.getToken(w, "tabard-eks-token eks get-token"))
	root.AddCommand(group, a.authenticator(w), install(w))
	usage.Prepare(root)
	return root
}

// authenticator is aws-iam-authenticator's command.
func (a *asked) authenticator(w World) *cobra.Command {
	token := &cobra.Command{
		Use:     "token",
		Short:   "Print a token for a cluster, as aws-iam-authenticator token does",
		Example: "  tabard-eks-token token --region us-west-2 -i eks-hub -r arn:aws:iam::111111111111:role/hub",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), w) },
	}
	a.token(token.Flags(), true)
	token.Flags().BoolVar(&a.tokenOnly, "token-only", false, "print the token alone, and no ExecCredential")
	token.Flags().Bool("cache", false, "without effect: nothing is kept on disk")
	return token
}

func install(w World) *cobra.Command {
	return &cobra.Command{
		Use:   "install PATH",
		Short: "Copy this program to a path, such as a volume that other containers share",
		Long: `Copy this program to a path, with its folder. A program that is there is replaced at
once: whoever starts it gets the old or the new one, whole. A folder or a symbolic link
at the path is refused.`,
		Example: "  tabard-eks-token install /awscli/dist/aws",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return w.Install(args[0]) },
	}
}
