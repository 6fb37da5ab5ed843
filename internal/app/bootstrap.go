package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/handoff"
)

func issuerCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "issuer",
		Short: "Publish and repair the cluster's token issuer",
	}
	command.AddCommand(initCommand(), bootstrapCommand())
	return command
}

// operatorAudience is the audience of the operator's own projected token.
const operatorAudience = "sts.amazonaws.com"

const bootstrapLong = `Publish the first documents of an OIDCIssuer, register the OIDC provider, and make
the IAM role that the operator goes on with. It is run once by a person, with their
own AWS session (environment, profile, SSO: whatever the AWS command line uses) and
a kubeconfig of the cluster.

It is idempotent. Run it again to repair: when the documents or the provider are
gone, the operator cannot sign in to put them back, and this can. An OIDCIssuer that is
being deleted is not repaired: its deletion is carried on, if the file has the same
deletionPolicy and releaseName.

The role may write the two documents, look at their bucket, keep one statement in
its policy and look after the one provider. Nothing else.

With --print it writes nothing, needs no cluster, and with --account no AWS session: it
prints bucket, provider and role with both policies, for somebody who may make them. Run
without it afterwards to publish the documents; what is as wanted is left alone.`

func bootstrapCommand() *cobra.Command {
	var file, kubeconfig, namespace, account string
	var drop bool
	var print printing
	bootstrap := &cobra.Command{
		Use:   "bootstrap -f FILE",
		Short: "Publish the first documents and make the operator's role, with your own AWS session",
		Long:  bootstrapLong,
		Example: `  tabard issuer bootstrap -f issuer.yaml

  # for whoever may make roles in the account
  tabard issuer bootstrap -f issuer.yaml --print terraform --account 123456789012

  # the published set holds a key that this cluster never signed with
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
			config, err := program.KubeConfig(kubeconfig)
			if err != nil {
				return err
			}
			world, err := newBootstrapWorld(config, client.ObjectKey{Namespace: namespace, Name: account})
			if err != nil {
				return err
			}
			return (&cli.Bootstrap{
				World:           world,
				Operator:        operator,
				DropForeignKeys: drop,
				Out:             cmd.OutOrStdout(),
			}).Run(cmd.Context(), wanted)
		},
	}
	f := bootstrap.Flags()
	f.StringVarP(&file, "filename", "f", "", "the OIDCIssuer, a YAML or JSON file")
	command.AddKubeconfig(f, &kubeconfig, "the cluster")
	f.StringVarP(&namespace, "namespace", "n", "tabard-system", "the operator's namespace")
	f.StringVar(&account, "service-account", "tabard-issuer", "the operator's ServiceAccount")
	f.StringVar(&print.form, "print", "", "print what would be made, as `"+strings.Join(handoff.Forms(), "|")+"`, and make nothing")
	f.StringVar(&print.account, "account", "", "the AWS account to print it for (default: that of your session)")
	f.BoolVar(&drop, "drop-foreign-keys", false, "remove published keys that the cluster does not know")
	if err := bootstrap.MarkFlagRequired("filename"); err != nil {
		panic(err) // the flag is defined three lines above
	}
	return bootstrap
}

// readIssuer reads and checks the file.
func readIssuer(path string) (*v1alpha1.OIDCIssuer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var wanted v1alpha1.OIDCIssuer
	if err := yaml.UnmarshalStrict(text, &wanted); err != nil {
		return nil, fmt.Errorf("%s is no OIDCIssuer: %w", path, err)
	}
	if wanted.Kind != "OIDCIssuer" || wanted.APIVersion != v1alpha1.GroupVersion.String() {
		return nil, fmt.Errorf("%s holds %s %s, expected %s OIDCIssuer", path, wanted.APIVersion, wanted.Kind, v1alpha1.GroupVersion)
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

// bootstrapWorld is the world as a person's own sessions reach it.
type bootstrapWorld struct {
	*issuer.Observer
	roles  *iamrole.Roles
	client client.Client
	config client.ObjectKey
}

func newBootstrapWorld(config *rest.Config, account client.ObjectKey) (*bootstrapWorld, error) {
	auth, err := newAuth()
	if err != nil {
		return nil, err
	}
	observer, err := newObserver(auth, config, identity.Session, account)
	if err != nil {
		return nil, err
	}
	return &bootstrapWorld{
		Observer: observer, roles: iamrole.New(auth), client: observer.Cluster.Client, config: account,
	}, nil
}

// Stored reads the issuer. A cluster without the kind has none.
func (w *bootstrapWorld) Stored(ctx context.Context, name string) (*v1alpha1.OIDCIssuer, error) {
	var stored v1alpha1.OIDCIssuer
	err := w.client.Get(ctx, client.ObjectKey{Name: name}, &stored)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	return &stored, err
}

// Observe reads the world, rivals included where the kind is served.
func (w *bootstrapWorld) Observe(ctx context.Context, wanted *v1alpha1.OIDCIssuer) (core.World, error) {
	var list v1alpha1.OIDCIssuerList
	if err := w.client.List(ctx, &list); err != nil && !meta.IsNoMatchError(err) {
		return core.World{}, err
	}
	var rivals []v1alpha1.OIDCIssuer
	for _, other := range list.Items {
		if other.Name != wanted.Name {
			rivals = append(rivals, other)
		}
	}
	world := w.Observer.Observe(ctx, wanted, rivals)
	w.ObserveTrust(ctx, world)
	return world, nil
}

// Perform makes a step in AWS true.
func (w *bootstrapWorld) Perform(ctx context.Context, step core.Step) error {
	return w.AWS.Perform(ctx, step)
}

// Remember adds providers to the status of the issuer in the cluster.
func (w *bootstrapWorld) Remember(ctx context.Context, name string, providers []v1alpha1.ProviderStatus) error {
	err := w.change(ctx, name, w.client.Status().Patch, func(wanted *v1alpha1.OIDCIssuer) {
		for _, provider := range providers {
			if !slices.ContainsFunc(wanted.Status.Providers, func(p v1alpha1.ProviderStatus) bool { return p.AccountID == provider.AccountID }) {
				wanted.Status.Providers = append(wanted.Status.Providers, provider)
			}
		}
	})
	if err != nil {
		return fmt.Errorf("tell the OIDCIssuer %s of its providers before they are made: %w", name, err)
	}
	return nil
}

// Release removes the finalizer from the issuer in the cluster.
func (w *bootstrapWorld) Release(ctx context.Context, name string) error {
	patch := func(ctx context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
		return w.client.Patch(ctx, o, p)
	}
	return client.IgnoreNotFound(w.change(ctx, name, patch, func(wanted *v1alpha1.OIDCIssuer) {
		controllerutil.RemoveFinalizer(wanted, core.Finalizer)
	}))
}

// change patches the issuer in the cluster as it is now, again if the operator
// wrote in between.
func (w *bootstrapWorld) change(ctx context.Context, name string,
	patch func(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error, change func(*v1alpha1.OIDCIssuer),
) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var stored v1alpha1.OIDCIssuer
		if err := w.client.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
			return err
		}
		wanted := stored.DeepCopy()
		change(wanted)
		return patch(ctx, wanted, client.MergeFromWithOptions(&stored, client.MergeFromWithOptimisticLock{}))
	})
}

// EnsureRole makes the role as wanted.
func (w *bootstrapWorld) EnsureRole(ctx context.Context, role cli.Role) (string, error) {
	arn, _, err := w.roles.Ensure(ctx, role.Identity, iamrole.Want{
		Name: role.Name, Owner: cloud.Tag{Key: core.OwnerTag, Value: role.Owner}, Trust: role.Trust,
		PolicyName: cli.PolicyName, Policy: role.Policy, Description: cli.RoleDescription,
	})
	return arn, err
}

// TellOperator writes the ConfigMap that the operator's Deployment reads.
func (w *bootstrapWorld) TellOperator(ctx context.Context, arn, region string) (string, error) {
	config := applycorev1.ConfigMap(w.config.Name, w.config.Namespace).
		WithData(map[string]string{"roleARN": arn, "region": region})
	err := w.client.Apply(ctx, config, client.FieldOwner("tabard.bootstrap"), client.ForceOwnership)
	if apierrors.IsNotFound(err) {
		return "", fmt.Errorf("there is no namespace %s to tell the operator its role in: apply Tabard's manifests, then run this again", w.config.Namespace)
	}
	return fmt.Sprintf("ConfigMap %s tells the operator its role", w.config), err
}

// Wait sleeps, or ends with the context.
func (w *bootstrapWorld) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
