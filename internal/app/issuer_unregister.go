package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

const unregisterLong = `Delete the OIDC provider of an issuer's URL from the AWS account of your session, after the
OIDCIssuer, the operator or the cluster is gone. Run it once for each account that registered
the issuer. While an operator runs, delete the OIDCIssuer with deletionPolicy Delete instead.

It shows the provider and the roles whose trust policies mention it, and asks you to go on.
Pods can no longer become these roles afterwards. It deletes only a provider that has Tabard's
tag for this URL. The bucket and the roles stay; it prints how to delete the operator's role,
and how to register the issuer again.

It refuses while the cluster has an OIDCIssuer with this URL. Make sure that your kubeconfig
is that of the issuer's cluster. The right to list all roles of the account (iam:ListRoles)
is needed only for the list of roles.

Exit codes: 0 the provider is gone, or --dry-run showed the plan; 1 refused, or AWS or the
cluster cannot be read; 2 the input cannot be used.`

func unregisterCommand() *cobra.Command {
	var kubeconfig command.Kubeconfig
	var wish cli.Unregister
	unregister := &cobra.Command{
		Use:   "unregister URL",
		Short: "Delete an issuer's OIDC provider from an AWS account, after its OIDCIssuer is gone",
		Long:  unregisterLong,
		Example: `  tabard issuer unregister https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com --dry-run

  # the cluster no longer exists
  tabard issuer unregister https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com --without-cluster`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := core.ValidateURL(args[0]); err != nil {
				return program.Unusable(fmt.Errorf("expected the URL of an issuer, as in spec.url of its OIDCIssuer: %w", err))
			}
			world, err := newUnregisterWorld(&kubeconfig, wish.WithoutCluster)
			if err != nil {
				return err
			}
			wish.World, wish.Out = world, cmd.OutOrStdout()
			wish.Confirm = command.Confirm(cmd.InOrStdin(), cmd.ErrOrStderr())
			return wish.Run(cmd.Context(), args[0])
		},
	}
	f := unregister.Flags()
	kubeconfig.AddFlags(f)
	f.BoolVar(&wish.WithoutCluster, "without-cluster", false, "do not ask the cluster whether an OIDCIssuer still needs the provider")
	f.BoolVar(&wish.DryRun, "dry-run", false, "show the plan, and write nothing")
	f.BoolVar(&wish.Yes, "yes", false, "do not ask before the provider is deleted")
	return unregister
}

// unregisterWorld is a cluster, nil if it shall not be asked, and the account of a person's session.
type unregisterWorld struct {
	cluster   client.Reader
	accounts  *caller.Accounts
	providers *oidcprovider.Providers
	roles     *iamrole.Roles
}

func newUnregisterWorld(kubeconfig *command.Kubeconfig, withoutCluster bool) (*unregisterWorld, error) {
	auth, err := newAuth()
	if err != nil {
		return nil, err
	}
	world := &unregisterWorld{accounts: caller.New(auth), providers: oidcprovider.New(auth), roles: iamrole.New(auth)}
	if withoutCluster {
		return world, nil
	}
	live, err := issuerClient(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%w; if the cluster is gone, add --without-cluster", err)
	}
	world.cluster = live.Cluster.Client
	return world, nil
}

// Users are the OIDCIssuers of the URL. A cluster without the kind has none.
func (w *unregisterWorld) Users(ctx context.Context, url string) (names []string, err error) {
	var list v1alpha1.OIDCIssuerList
	if err := w.cluster.List(ctx, &list); err != nil && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("list the OIDCIssuers: %w", err)
	}
	for _, one := range list.Items {
		if one.Spec.URL == url {
			names = append(names, one.Name)
		}
	}
	return names, nil
}

// Registration reads the provider, and the roles that trust it.
func (w *unregisterWorld) Registration(ctx context.Context, url string) (out cli.Registration, err error) {
	if out.AccountID, out.Caller, err = w.accounts.Caller(ctx, session("")); err != nil {
		return out, bootstrapping.SignInFirst(err)
	}
	who, _ := identity.ParseARN(out.Caller)
	out.ARN = core.ProviderARN(cmp.Or(who.Partition, "aws"), out.AccountID, url)
	provider, err := w.providers.Get(ctx, session(""), out.ARN)
	if err != nil || !provider.Exists {
		return out, err
	}
	out.Exists, out.Owner, out.Audiences = true, provider.Tags[core.OwnerTag], provider.Audiences
	if out.Roles, err = w.roles.TrustedBy(ctx, session(""), out.ARN); err != nil {
		out.RolesError = err.Error()
	}
	return out, nil
}

// Remove deletes the provider, which is read again before.
func (w *unregisterWorld) Remove(ctx context.Context, arn, owner string) error {
	return w.providers.Delete(ctx, session(""), arn, cloud.Tag{Key: core.OwnerTag, Value: owner})
}
