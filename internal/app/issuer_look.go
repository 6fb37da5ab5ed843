package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

const issuerStatusLong = `Show what the operator has reported about OIDCIssuers: the conditions, the OIDC providers
by account, and the keys with their state. The command reads the cluster and does not call
AWS. If the operator has stopped, the last report stays. tabard issuer verify does not
depend on the operator.

Exit codes: 0 each is Ready; 1 at least one is not Ready, is being deleted, or has changed
since the operator looked at it, or the cluster cannot be read; 2 the input cannot be used.`

func issuerStatusCommand() *cobra.Command {
	var kubeconfig command.Kubeconfig
	var output command.Output
	status := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show conditions, providers and keys of OIDCIssuers; exit code 1 if one is not Ready",
		Long:  issuerStatusLong,
		Example: `  tabard issuer status
  tabard issuer status cluster -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Check(); err != nil {
				return program.Unusable(err)
			}
			live, err := issuerClient(&kubeconfig)
			if err != nil {
				return program.Unusable(err)
			}
			issuers, err := readIssuers(cmd.Context(), live.Cluster.Client, args)
			if err != nil {
				return program.Unusable(err)
			}
			return cli.Report(streamsOf(cmd), issuers, output)
		},
	}
	kubeconfig.AddFlags(status.Flags())
	output.AddFlags(status, command.Name)
	return status
}

const issuerVerifyLong = `Check whether AWS can verify the tokens of an issuer. It fetches the discovery document and
the keys document without credentials, follows no redirect, and trusts the system's
certificate authorities only, as AWS does; then it checks the issuer, the keys and the
algorithms that they name. It writes nothing in AWS and needs no AWS session.

With the NAME of an OIDCIssuer it also requests a token of ten minutes from each API server,
for the operator's ServiceAccount and an audience that no cloud knows, and verifies it
against the documents. If no API server gives a token at its own address, such as from
outside the cluster's network, the command uses the kubeconfig's address. It prints no token.
With a URL it calls no cluster. It may be the issuer of others, and is taken byte for byte:
issuers of AKS end with a slash. The keys are where the discovery document says.

Exit codes: 0 everything is right; 1 a check failed or could not be done; 2 the input cannot
be used, such as the name of an OIDCIssuer that is not there.`

func issuerVerifyCommand() *cobra.Command {
	var kubeconfig command.Kubeconfig
	var output command.Output
	var account client.ObjectKey
	verify := &cobra.Command{
		Use:   "verify URL|NAME",
		Short: "Fetch an issuer's documents as AWS does, and verify a fresh token against them",
		Long:  issuerVerifyLong,
		Example: `  tabard issuer verify cluster
  tabard issuer verify https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Check(); err != nil {
				return program.Unusable(err)
			}
			if strings.Contains(args[0], ":") { // no object's name has one
				return verifyURL(cmd, args[0], output)
			}
			live, err := issuerClient(&kubeconfig)
			if err != nil {
				return program.Unusable(err)
			}
			live.Cluster.ServiceAccount = account
			return verifyNamed(cmd, live, args, output)
		},
	}
	f := verify.Flags()
	kubeconfig.AddFlags(f)
	f.StringVarP(&account.Namespace, "namespace", "n", command.Namespace, "the operator's namespace")
	f.StringVar(&account.Name, "service-account", cli.DefaultServiceAccount, "the operator's ServiceAccount, for which tokens are requested")
	output.AddFlags(verify)
	output.AddHeaderFlag(verify)
	return verify
}

// verifyURL looks at the documents alone.
func verifyURL(cmd *cobra.Command, url string, output command.Output) error {
	if err := core.ValidateForeignURL(url); err != nil {
		return program.Unusable(err)
	}
	public, err := issuer.NewPublic(os.Getenv(envLabCA))
	if err != nil {
		return program.Unusable(fmt.Errorf("%s: %w", envLabCA, err))
	}
	done := command.Waiting(cmd.ErrOrStderr(), "the documents at "+url)
	seen := (&issuer.Observer{Public: public}).ObserveForeign(cmd.Context(), url)
	done()
	return cli.Verify(streamsOf(cmd), url, seen, nil, output)
}

// verifyNamed looks at the documents of an OIDCIssuer, and at fresh tokens of its cluster.
func verifyNamed(cmd *cobra.Command, live *issuer.Observer, names []string, output command.Output) error {
	found, err := readIssuers(cmd.Context(), live.Cluster.Client, names)
	if err != nil {
		return program.Unusable(err)
	}
	world := core.World{Issuer: &found[0], Now: time.Now()}
	defer command.Waiting(cmd.ErrOrStderr(), "tokens, and the documents at "+world.Issuer.Spec.URL)()
	live.ObserveTokens(cmd.Context(), &world)
	if !slices.ContainsFunc(world.Cluster.APIServers, func(s core.APIServer) bool { return s.Token.Error == "" }) {
		// A machine outside the cluster's network reaches none by its own address.
		cmd.PrintErrln("No API server gave a token at its own address: the kubeconfig's address is asked, which may hide that one of several differs.")
		live.Cluster.AsConfigured = true
		live.ObserveTokens(cmd.Context(), &world)
	}
	return cli.Verify(streamsOf(cmd), world.Issuer.Spec.URL, world.Public, &world.Cluster, output)
}

// issuerClient reads a cluster, and what anybody sees of its issuers. It is nobody in AWS.
func issuerClient(kubeconfig *command.Kubeconfig) (*issuer.Observer, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	live, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	public, err := issuer.NewPublic(os.Getenv(envLabCA))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envLabCA, err)
	}
	return &issuer.Observer{Cluster: &issuer.Cluster{Config: config, Client: live}, Public: public}, nil
}

// readIssuers reads the named OIDCIssuer, or all if none is named.
func readIssuers(ctx context.Context, from client.Reader, names []string) ([]v1alpha1.OIDCIssuer, error) {
	var list v1alpha1.OIDCIssuerList
	switch err := from.List(ctx, &list); {
	case meta.IsNoMatchError(err):
		return nil, errors.New("the cluster does not know OIDCIssuers, expected Tabard's custom resources: install Tabard first (helm install tabard charts/tabard)")
	case err != nil:
		return nil, fmt.Errorf("list the OIDCIssuers: %w", err)
	}
	if len(names) == 0 {
		return list.Items, nil
	}
	var known []string
	for _, one := range list.Items {
		if one.Name == names[0] {
			return []v1alpha1.OIDCIssuer{one}, nil
		}
		known = append(known, one.Name)
	}
	return nil, fmt.Errorf("there is no OIDCIssuer %.80q, expected one of: %s", names[0], cmp.Or(strings.Join(known, ", "), "(there is none; tabard issuer init writes the file of one)"))
}

func streamsOf(cmd *cobra.Command) command.Streams {
	return command.Streams{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
}
