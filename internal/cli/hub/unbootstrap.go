package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

const unbootstrapLong = `Remove what "tabard hub bootstrap" made, after the controller of the hub's clusters is turned
off: its role in AWS, and the ConfigMap that tells it the role.

It shows what it will remove, and asks you to go on. It removes only a role that has the tag
tabard.dev/hub-controller with the hub's ARN, and a ConfigMap that bootstrap wrote for this
role. The OIDC provider stays. The roles ocm-hub-* of clusters and their access entries stay
too: it lists those that the cluster still has a HubAccess of, since nobody removes them
afterwards.

It refuses while the cluster has the Deployment tabard-hub with replicas.

Exit codes: 0 nothing of it is left, or --dry-run showed the plan; 1 refused, or AWS or the
cluster refused something; 2 the input cannot be used.`

// removal is what the flags of unbootstrap say.
type removal struct {
	hub            asked
	namespace      string
	withoutCluster bool
	dryRun, yes    bool
}

func newUnbootstrap(world World) *cobra.Command {
	var r removal
	out := &cobra.Command{
		Use:   "unbootstrap",
		Short: "Remove the role of the hub's controller, after the controller is turned off",
		Long:  unbootstrapLong,
		Example: `  tabard hub unbootstrap --dry-run

  # the cluster no longer exists
  tabard hub unbootstrap --without-cluster --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub`,
		Args: command.NoArgs(world.Streams),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, _ []string) error { return r.run(cmd, world) }),
	}
	f := out.Flags()
	addHub(&r.hub, f)
	f.StringVarP(&r.namespace, "namespace", "n", command.Namespace, "the controller's namespace")
	f.BoolVar(&r.withoutCluster, "without-cluster", false, "do not ask the cluster, and leave its ConfigMap; needs --hub-cluster-arn")
	f.BoolVar(&r.dryRun, "dry-run", false, "show the plan, and write nothing")
	f.BoolVar(&r.yes, "yes", false, "do not ask before anything is removed")
	return out
}

func (r *removal) run(cmd *cobra.Command, world World) (err error) {
	arn := r.hub.hubARN
	var cluster Cluster
	if !r.withoutCluster {
		if cluster, err = world.Cluster(&r.hub.kubeconfig); err != nil {
			return fmt.Errorf("%w; if the cluster is gone, add --without-cluster", err)
		}
	}
	switch {
	case arn != "":
	case r.withoutCluster:
		return errors.New("--without-cluster asks no cluster which hub it is; " + nameTheHub)
	default:
		if arn, err = hubOf(cmd.Context(), cluster); err != nil {
			return err
		}
	}
	hub, err := core.ParseARN(arn)
	if err != nil {
		return fmt.Errorf("the ARN of the hub: %w", err)
	}
	session, err := world.AWS()
	if err != nil {
		return err
	}
	u := unbootstrap{removal: r, hub: hub, cluster: cluster, out: world.Streams.Out, confirm: command.Confirm(cmd.InOrStdin(), cmd.ErrOrStderr())}
	if err := u.run(cmd.Context(), session); err != nil {
		return world.Streams.Refuse(command.Found, err)
	}
	return nil
}

// unbootstrap carries a removal out.
type unbootstrap struct {
	*removal
	hub     core.ARN
	cluster Cluster
	// confirm asks the person; nil where there is none to ask.
	confirm func(question string) (bool, error)
	out     io.Writer
}

func (u *unbootstrap) run(ctx context.Context, session AWS) error {
	account, caller, err := whoami(ctx, session, u.hub.Region)
	if err != nil {
		return err
	}
	if account != u.hub.Account {
		return fmt.Errorf("your session is in account %s, and the hub %s in %s, where its role is: sign in there", account, u.hub, u.hub.Account)
	}
	if err := u.unused(ctx); err != nil {
		return err
	}
	config, clusters, err := u.look(ctx)
	if err != nil {
		return err
	}
	role := session.Role(ctx, u.hub.Region, core.ControllerRoleName(u.hub))
	plan, err := core.Removal(u.hub, role, u.namespace, config.Data, wrote(config))
	if err != nil {
		return err
	}
	say(u.out, "hub %s, as %s in account %s", u.hub, caller, account)
	showPlan(u.out, plan)
	for _, cluster := range clusters {
		say(u.out, "  ! HubAccess %s: the role %s and its access entry stay in AWS, and the controller can no longer remove them", cluster.Name, cluster.Spec.Access.RoleARN)
	}
	deletes := slices.ContainsFunc(plan, func(one core.Planned) bool { return one.Change == core.ToDelete })
	switch {
	case !deletes:
		say(u.out, "nothing to do")
		return nil
	case u.dryRun:
		say(u.out, "this was a dry run: nothing was written")
		return nil
	}
	if err := u.asks(); err != nil {
		return err
	}
	return u.remove(ctx, session, plan, role, config)
}

// unused refuses while the controller may still run with the role.
func (u *unbootstrap) unused(ctx context.Context) error {
	if u.withoutCluster {
		return nil
	}
	var deployment appsv1.Deployment
	err := u.cluster.Get(ctx, client.ObjectKey{Namespace: u.namespace, Name: core.ControllerName}, &deployment)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("whether the controller still runs cannot be told: read the Deployment %s/%s: %w; if the cluster is gone, add --without-cluster", u.namespace, core.ControllerName, err)
	case deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0:
		return fmt.Errorf("the Deployment %[1]s/%[2]s has the controller run with this role: turn it off first: helm upgrade tabard charts/tabard --namespace %[1]s --reset-then-reuse-values --set hub.enabled=false", u.namespace, core.ControllerName)
	}
	return nil
}

// look reads the ConfigMap, and what of clusters is left in AWS.
func (u *unbootstrap) look(ctx context.Context) (config corev1.ConfigMap, clusters []v1alpha1.HubAccess, err error) {
	if u.withoutCluster {
		return config, nil, nil
	}
	if config, err = told(u.cluster, u.namespace).Config(ctx); err != nil {
		return config, nil, err
	}
	var list v1alpha1.HubAccessList
	if err := u.cluster.List(ctx, &list); err != nil && !meta.IsNoMatchError(err) {
		return config, nil, fmt.Errorf("list the HubAccesses, whose roles would be left in AWS: %w", err)
	}
	for _, one := range list.Items {
		if one.Spec.Access != nil && one.Spec.Access.HubARN == u.hub.String() {
			clusters = append(clusters, one)
		}
	}
	return config, clusters, nil
}

// wrote says that a bootstrap wrote the ConfigMap.
func wrote(config corev1.ConfigMap) bool {
	return slices.ContainsFunc(config.ManagedFields, func(of metav1.ManagedFieldsEntry) bool { return of.Manager == bootstrapping.FieldOwner })
}

// asks asks the person, since what goes may be in use.
func (u *unbootstrap) asks() error {
	if u.yes {
		return nil
	}
	if u.confirm == nil {
		return errors.New("nothing was written: there is no terminal to ask at, add --yes to remove it, or --dry-run to see the plan only")
	}
	return agreed(u.confirm, "Remove it?")
}

// remove removes the role first: until it is gone the ConfigMap says that there is one.
func (u *unbootstrap) remove(ctx context.Context, session AWS, plan []core.Planned, role core.RoleSeen, config corev1.ConfigMap) error {
	name := core.ControllerRoleName(u.hub)
	if plan[0].Change == core.ToDelete {
		if err := session.DeleteRole(ctx, u.hub.Region, name, u.hub.String()); err != nil {
			return fmt.Errorf("remove the role %s: %w", name, err)
		}
		say(u.out, "role %s deleted", role.ARN)
	}
	if len(plan) > 1 && plan[1].Change == core.ToDelete {
		same := client.Preconditions{UID: &config.UID, ResourceVersion: &config.ResourceVersion}
		if err := u.cluster.Delete(ctx, &config, same); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove the ConfigMap %s/%s: %w", u.namespace, core.ControllerName, err)
		}
		say(u.out, "ConfigMap %s/%s deleted", u.namespace, core.ControllerName)
	}
	say(u.out, "left in AWS: the OIDC provider of the cluster, and roles %s with their access entries, if clusters have any", core.RoleName("*"))
	if u.withoutCluster {
		say(u.out, "left in the cluster: the ConfigMap %s/%s", u.namespace, core.ControllerName)
	}
	say(u.out, "to undo: tabard hub bootstrap --hub-cluster-arn %s --namespace %s%s", u.hub, u.namespace, role.Wish().Flags())
	return nil
}
