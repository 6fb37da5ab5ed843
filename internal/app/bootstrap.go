package app

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/handoff"
)

func issuerCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "issuer",
		Short: "Publish and repair the cluster's token issuer",
	}
	command.AddCommand(initCommand(), bootstrapCommand(), issuerStatusCommand(), issuerVerifyCommand(), unregisterCommand())
	return command
}

// operatorAudience is the audience of the operator's own projected token.
const operatorAudience = "sts.amazonaws.com"

const bootstrapLong = `Publish the first documents of an OIDCIssuer, register the OIDC provider, and make
the IAM role for the operator. An administrator runs the command once, with their own
AWS session (environment, profile, SSO: whatever the AWS command line uses) and a
kubeconfig of the cluster.

Before the command writes anything, it reads from the cluster the issuer of its tokens, its
namespace and your rights. Then it shows what it will make, and asks you to continue.
--dry-run ends there.

The command is idempotent. Run it again to repair an issuer: if the documents or the
provider are gone, the operator cannot sign in to restore them, but this command can. If
the OIDCIssuer is being deleted, the command does not repair it. It continues the deletion,
if the file has the same deletionPolicy and releaseName.

The role may write the two documents, read their bucket's settings, keep one statement in
the bucket's policy, and manage the one provider. It may do nothing else.

With --print the command writes nothing and needs no cluster; with --account as well, it
needs no AWS session. It prints bucket, provider and role with both policies, for another
team to make. Run the command without --print afterwards: it publishes the documents, and
changes only what differs from the file.`

func bootstrapCommand() *cobra.Command {
	var file, namespace, account string
	var kubeconfig command.Kubeconfig
	var wish cli.Bootstrap
	var yes bool
	var print printing
	bootstrap := &cobra.Command{
		Use:   "bootstrap -f FILE",
		Short: "Publish the first documents and make the operator's role, with your own AWS session",
		Long:  bootstrapLong,
		Example: `  tabard issuer bootstrap -f issuer.yaml --dry-run
  tabard issuer bootstrap -f issuer.yaml

  # for another team that makes the roles of the account
  tabard issuer bootstrap -f issuer.yaml --print terraform --account 123456789012

  # the published documents have a key that this cluster never signed with
  tabard issuer bootstrap -f issuer.yaml --drop-foreign-keys`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			wanted, err := readIssuer(file)
			if err != nil {
				return program.Unusable(err)
			}
			operator := core.Subject{Namespace: namespace, ServiceAccount: account, Audience: operatorAudience}
			if print.form != "" {
				return print.run(cmd.Context(), cmd.OutOrStdout(), wanted, operator)
			}
			config, err := program.KubeConfigOf(&kubeconfig)
			if err != nil {
				return err
			}
			world, err := newBootstrapWorld(config, client.ObjectKey{Namespace: namespace, Name: account})
			if err != nil {
				return err
			}
			wish.World, wish.Operator, wish.Out = world, operator, cmd.OutOrStdout()
			if !yes {
				wish.Confirm = command.Confirm(cmd.InOrStdin(), cmd.ErrOrStderr())
			}
			return wish.Run(cmd.Context(), wanted)
		},
	}
	f := bootstrap.Flags()
	f.StringVarP(&file, "filename", "f", "", "the OIDCIssuer, a YAML or JSON file")
	kubeconfig.AddFlags(f)
	f.StringVarP(&namespace, "namespace", "n", "tabard-system", "the operator's namespace")
	f.StringVar(&account, "service-account", "tabard-issuer", "the operator's ServiceAccount")
	f.StringVar(&print.form, "print", "", "print what would be made, as `"+strings.Join(handoff.Forms(), "|")+"`, and make nothing")
	f.StringVar(&print.account, "account", "", "the AWS account to print it for (default: that of your session)")
	f.BoolVar(&yes, "yes", false, "do not ask before anything is written; without a terminal nothing is asked anyway")
	f.BoolVar(&wish.DryRun, "dry-run", false, "show the plan, and write nothing")
	f.BoolVar(&wish.Consent.OtherIssuer, "allow-other-issuer", false, "publish although the cluster's tokens name another issuer, such as before kube-apiserver is set to this one")
	f.BoolVar(&wish.Consent.ReplaceRole, "replace-role", false, "tell the operator this issuer's role in place of another, such as that of another OIDCIssuer")
	f.BoolVar(&wish.DropForeignKeys, "drop-foreign-keys", false, "remove published keys that the cluster does not know")
	required(bootstrap, "filename")
	return bootstrap
}

// required marks a flag that the command cannot do without.
func required(command *cobra.Command, flag string) {
	if err := command.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag is defined by the caller
	}
}

// readIssuer reads and checks the file.
func readIssuer(path string) (*v1alpha1.OIDCIssuer, error) {
	file := command.File{By: "-f", Path: path, Expected: "an OIDCIssuer of " + v1alpha1.GroupVersion.String() + ", which tabard issuer init writes"}
	text, err := file.Read(os.Stdin)
	if err != nil {
		return nil, err
	}
	var wanted v1alpha1.OIDCIssuer
	if err := yaml.UnmarshalStrict(text, &wanted); err != nil {
		return nil, file.Refuse(err)
	}
	if wanted.Kind != "OIDCIssuer" || wanted.APIVersion != v1alpha1.GroupVersion.String() {
		return nil, file.Refuse(fmt.Errorf("it has apiVersion %q and kind %q", wanted.APIVersion, wanted.Kind))
	}
	if wanted.Name == "" {
		return nil, fmt.Errorf("%s has no metadata.name", path)
	}
	wanted.CreationTimestamp = metav1.Now() // younger than any that the cluster holds
	applyDefaults(&wanted)
	if err := core.Validate(wanted.Spec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &wanted, nil
}

// applyDefaults does what the CRD's schema does for stored objects.
func applyDefaults(o *v1alpha1.OIDCIssuer) {
	if o.Spec.Keys.Source == "" {
		o.Spec.Keys.Source = v1alpha1.KeySourceAPIServer
	}
	if o.Spec.Publication.S3.PublicRead == "" {
		o.Spec.Publication.S3.PublicRead = v1alpha1.PublicReadBucketPolicy
	}
	if o.Spec.RetireKeysAfter.Duration == 0 {
		o.Spec.RetireKeysAfter.Duration = 25 * time.Hour
	}
	if o.Spec.DeletionPolicy == "" {
		o.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain
	}
}
