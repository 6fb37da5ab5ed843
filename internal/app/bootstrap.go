package app

import (
	"errors"
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
	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
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

// bootstrapFlags are what a person may say of a bootstrap.
type bootstrapFlags struct {
	file, namespace, account string
	kubeconfig               command.Kubeconfig
	wish                     cli.Bootstrap
	role                     bootstrapping.RoleFlags
	yes                      bool
	print                    printing
	output                   command.Output
}

func bootstrapCommand() *cobra.Command {
	var flags bootstrapFlags
	bootstrap := &cobra.Command{
		Use:   "bootstrap -f FILE",
		Short: "Publish the first documents and make the operator's role, with your own AWS session",
		Long:  bootstrapLong,
		Example: `  tabard issuer bootstrap -f issuer.yaml --dry-run
  tabard issuer bootstrap -f issuer.yaml

  # for another team that makes the roles of the account
  tabard issuer bootstrap -f issuer.yaml --print terraform --account 123456789012

  # the account demands a path, a permissions boundary and tags of every role
  tabard issuer bootstrap -f issuer.yaml --role-path /platform/ \
    --permissions-boundary arn:aws:iam::123456789012:policy/platform --tag cost-center=42

  # the published documents have a key that this cluster never signed with
  tabard issuer bootstrap -f issuer.yaml --drop-foreign-keys`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	flags.add(bootstrap)
	required(bootstrap, "filename")
	return bootstrap
}

func (b *bootstrapFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&b.file, "filename", "f", "", "the OIDCIssuer, a YAML or JSON file")
	b.kubeconfig.AddFlags(f)
	f.StringVarP(&b.namespace, "namespace", "n", command.Namespace, "the operator's namespace")
	f.StringVar(&b.account, "service-account", cli.DefaultServiceAccount, "the operator's ServiceAccount")
	f.StringVar(&b.wish.Role.Name, "role-name", "", "the name of the operator's role (default: tabard-issuer-NAME with a hash of the URL)")
	b.role.Add(f, "the operator's", &b.wish.Role)
	f.StringVar(&b.print.form, "print", "", "print what would be made, as `"+strings.Join(handoff.Forms(), "|")+"`, and make nothing")
	f.StringVar(&b.print.account, "account", "", "the AWS account to print it for (default: that of your session)")
	f.BoolVar(&b.yes, "yes", false, "do not ask before anything is written; without a terminal nothing is asked anyway")
	f.BoolVar(&b.wish.DryRun, "dry-run", false, "show the plan, and write nothing")
	f.BoolVar(&b.wish.Consent.OtherIssuer, "allow-other-issuer", false, "publish although the cluster's tokens name another issuer, such as before kube-apiserver is set to this one")
	f.BoolVar(&b.wish.Consent.ReplaceRole, "replace-role", false, "tell the operator this issuer's role in place of another, such as that of another OIDCIssuer")
	f.BoolVar(&b.wish.DropForeignKeys, "drop-foreign-keys", false, "remove published keys that the cluster does not know")
	b.output.AddFlags(c)
}

// check reads the file and the flags, before anything is asked of a cluster or of AWS.
func (b *bootstrapFlags) check() (wanted *v1alpha1.OIDCIssuer, err error) {
	if wanted, err = readIssuer(b.file); err != nil {
		return nil, err
	}
	return wanted, errors.Join(b.role.Check(), b.output.Check())
}

func (b *bootstrapFlags) run(cmd *cobra.Command) error {
	wanted, err := b.check()
	if err != nil {
		return program.Unusable(err)
	}
	b.wish.Operator = core.Subject{Namespace: b.namespace, ServiceAccount: b.account, Audience: operatorAudience}
	if b.print.form != "" {
		return b.print.run(cmd.Context(), cmd.OutOrStdout(), wanted, &b.wish)
	}
	config, err := program.KubeConfigOf(&b.kubeconfig)
	if err != nil {
		return err
	}
	if b.wish.World, err = newBootstrapWorld(config, client.ObjectKey{Namespace: b.namespace, Name: b.account}); err != nil {
		return err
	}
	if !b.yes {
		b.wish.Confirm = command.Confirm(cmd.InOrStdin(), cmd.ErrOrStderr())
	}
	if b.wish.Out = cmd.OutOrStdout(); b.output.IsForPeople() {
		return b.wish.Run(cmd.Context(), wanted)
	}
	// What a program reads comes last, whole, and also if the bootstrap failed on the way.
	b.wish.Out = cmd.ErrOrStderr()
	err = b.wish.Run(cmd.Context(), wanted)
	if b.wish.Result.Kind == "" {
		return err
	}
	streams := command.Streams{Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
	return errors.Join(err, streams.PrintAs(b.output, command.Printed{Document: b.wish.Result}))
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
