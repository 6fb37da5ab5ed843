package hub

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

const initLong = `Make a cluster a hub, or change what a hub says: write the ClusterManager cluster-manager. It is
called as "clusteradm init" is, and goes on where that has begun. Open Cluster Management's
operator has to be installed; if it is not, the command says how.

Only what the flags name is changed. What the ClusterManager says otherwise stays: a later call
with other flags does not switch managed IAM on again, and loses no tags or feature gates.

With --disable-managed-iam no program makes or removes IAM roles and access entries: people do
("tabard hub role"). The cluster's definition of ClusterManager must have the field
("tabard hub fields --apply"); if the API server would drop it, nothing is written. Released
versions of Open Cluster Management do not know the field. The command warns where they would
act all the same.

Before the ClusterManager is written, the API server is asked whether it takes it. At the end the
command prints how clusters join. It prints no token: "clusteradm get token" makes one, or
kubectl -n open-cluster-management create token agent-registration-bootstrap.

Exit codes: 0 the ClusterManager is written, or --dry-run showed it; 1 refused, or not there
after --timeout; 2 the input cannot be used.`

// initialization is the command's world and flags.
type initialization struct {
	streams  command.Streams
	hub      asked
	want     core.Init
	disable  bool
	gates    map[string]string
	images   images
	dryRun   bool
	output   command.Output
	patience patience
	// out is where people read.
	out io.Writer
}

func newInit(world World) *cobra.Command {
	i := initialization{streams: world.Streams}
	out := &cobra.Command{
		Use:   "init",
		Short: "Make a cluster a hub: write its ClusterManager",
		Long:  initLong,
		Example: `  # what would be written, for a hub whose administrators make the roles
  tabard hub init --registration-drivers awsirsa --disable-managed-iam --dry-run -o yaml \
    --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub

  # write it; the ARN is that of the ClusterManager, or the kubeconfig's name of the cluster
  tabard hub init --registration-drivers csr,awsirsa --disable-managed-iam

  # clusters of an account are accepted without being asked for
  tabard hub init --registration-drivers awsirsa --feature-gates ManagedClusterAutoApproval=true \
    --auto-approved-arn-patterns 'arn:aws:eks:us-east-1:222222222222:cluster/.*' --aws-resource-tags env=prod`,
		Args: command.NoArgs(world.Streams),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, _ []string) error {
			return i.run(cmd, world)
		}),
	}
	i.add(out)
	return out
}

func (i *initialization) add(c *cobra.Command) {
	f := c.Flags()
	addHub(&i.hub, f)
	f.StringSliceVar(&i.want.Drivers, "registration-drivers", nil, "how clusters may register: `csr,awsirsa,grpc` (default: as the ClusterManager says)")
	f.BoolVar(&i.disable, "disable-managed-iam", false, "for awsirsa: no program makes or removes IAM roles and access entries (default: as the ClusterManager says)")
	f.StringSliceVar(&i.want.Tags, "aws-resource-tags", nil, "for awsirsa: `KEY=VALUE` tags of the roles and access entries")
	f.StringSliceVar(&i.want.Patterns, "auto-approved-arn-patterns", nil, "for awsirsa: regular `expressions` for whole ARNs of clusters that are accepted without being asked for")
	f.StringToStringVar(&i.gates, "feature-gates", nil, "feature gates of the hub, as `GATE=true|false`")
	i.images.add(f)
	f.BoolVar(&i.dryRun, "dry-run", false, "have the API server check the ClusterManager, and write nothing; -o yaml prints it")
	i.patience.add(f, "the hub runs")
	i.output.AddFlags(c)
}

// check refuses what of the flags cannot be used.
func (i *initialization) check(c *cobra.Command) error {
	if err := i.output.Check(); err != nil {
		return err
	}
	if c.Flags().Changed("disable-managed-iam") {
		i.want.DisableManagedIAM = &i.disable
	}
	i.want.Gates = map[string]bool{}
	for gate, text := range i.gates {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("--feature-gates has %.60q for %.60q, expected true or false", text, gate)
		}
		i.want.Gates[gate] = on
	}
	if i.hub.hubARN != "" {
		var err error
		if i.want.Hub, err = core.ParseARN(i.hub.hubARN); err != nil {
			return fmt.Errorf("--hub-cluster-arn: %w", err)
		}
	}
	return i.want.Check()
}

func (i *initialization) run(cmd *cobra.Command, world World) error {
	if err := i.check(cmd); err != nil {
		return err
	}
	i.out = forPeople(world.Streams, i.output)
	cluster, err := world.Cluster(&i.hub.kubeconfig)
	if err != nil {
		return err
	}
	existing, images, err := theManager.look(cmd.Context(), cluster, i.images)
	if err != nil {
		return i.streams.Refuse(command.Found, err)
	}
	if err := i.findHub(existing); err != nil {
		return err
	}
	wanted := i.want.ClusterManager(existing, images)
	if err := i.write(cmd.Context(), cluster, existing, wanted); err != nil {
		return i.streams.Refuse(command.Found, err)
	}
	if !i.output.IsForPeople() {
		return i.streams.PrintAs(i.output, command.Printed{Document: shown(wanted)})
	}
	return nil
}

// findHub says which hub it is for the driver for AWS: that of the flag, of the ClusterManager, or
// else the one that the kubeconfig names. Open Cluster Management's operator ends without one.
func (i *initialization) findHub(existing map[string]any) error {
	if !i.want.HasAWS() || !i.want.Hub.IsZero() || hubIn(existing) != "" {
		return nil
	}
	name, err := i.hub.kubeconfig.ClusterName()
	if err != nil {
		return err
	}
	if i.want.Hub, err = core.ParseARN(name); err != nil {
		return fmt.Errorf("the ARN of the hub is not known, and the driver awsirsa needs it: the ClusterManager does not say it, and the kubeconfig's name of the cluster is %.200q, which is no ARN of EKS; say it with --hub-cluster-arn", name)
	}
	say(i.streams.Err, "the hub is %s, as the kubeconfig names it", name)
	return nil
}

// write has the ClusterManager checked, shows what becomes of it, writes it and waits.
func (i *initialization) write(ctx context.Context, cluster Cluster, existing, wanted map[string]any) error {
	after, err := i.apply(ctx, cluster, existing, wanted, true)
	if err != nil {
		return err
	}
	labelled, err := isLabelled(ctx, cluster, core.ControllerNamespace)
	if err != nil {
		return err
	}
	for _, warning := range i.want.Warnings(after, labelled) {
		say(i.streams.Err, "warning: %s", warning)
	}
	showPlan(i.out, []core.Planned{{Change: changeOf(existing, after), Object: "ClusterManager " + clusterManager}})
	if i.dryRun {
		say(i.out, "this was a dry run: nothing was written")
		return nil
	}
	if _, err := i.apply(ctx, cluster, existing, wanted, false); err != nil {
		return err
	}
	say(i.out, "the ClusterManager is written")
	if i.patience.wait {
		if err := i.patience.until(ctx, i.streams, func(ctx context.Context) ([]string, error) {
			manager := theManager.empty()
			err := cluster.Get(ctx, client.ObjectKeyFromObject(manager), manager)
			return core.ManagerWaits(manager.Object), err
		}); err != nil {
			return fmt.Errorf("the hub is %w", err)
		}
		say(i.out, "the hub runs")
	}
	i.sayNext(cluster, after)
	return nil
}

// apply applies the ClusterManager, and refuses one that is not as wanted then.
func (i *initialization) apply(ctx context.Context, cluster Cluster, existing, wanted map[string]any, dry bool) (map[string]any, error) {
	const field = "disableManagedIam"
	after, err := applyOver(ctx, cluster, existing, wanted, dry)
	if lacks := lacksField(err, field); lacks != nil {
		return nil, lacks
	}
	if err != nil {
		return nil, err
	}
	if said, is := disabledIn(wanted); is {
		if got, has := disabledIn(after); !has || got != said {
			err = dropped("awsirsa." + field)
			if !dry {
				err = fmt.Errorf("the ClusterManager was written, and is not as wanted: %w", err)
			}
		}
	}
	return after, err
}

// sayNext says how clusters join.
func (i *initialization) sayNext(cluster Cluster, manager map[string]any) {
	line := "tabard hub join --hub-token TOKEN --hub-apiserver " + cluster.Server
	if arn := hubIn(manager); arn != "" && slices.Contains(driversIn(manager), core.DriverAWS) {
		line += " --registration-auth awsirsa --hub-cluster-arn " + arn
	}
	if i.patience.wait {
		line += " --wait"
	}
	say(i.out, `clusters can join now. On each, type:

    %s --cluster-name CLUSTER

TOKEN is what clusteradm get token prints, or: kubectl -n %s create token agent-registration-bootstrap --duration 1h
CLUSTER is a name of your choice, such as cluster1.`, line, operatorNamespace)
}

// isLabelled says whether Tabard's admission hook is asked in a namespace. One that is not there
// has no label.
func isLabelled(ctx context.Context, cluster client.Reader, name string) (bool, error) {
	var namespace corev1.Namespace
	err := cluster.Get(ctx, client.ObjectKey{Name: name}, &namespace)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("read the namespace %s: %w", name, err)
	}
	return namespace.Labels[core.HookLabel] == core.HookLabelValue, nil
}

// forPeople is where people read: of a program's output, what is for it comes alone.
func forPeople(streams command.Streams, output command.Output) io.Writer {
	if output.IsForPeople() {
		return streams.Out
	}
	return streams.Err
}

func driverFields(manager map[string]any) (out []map[string]any) {
	drivers, _, _ := unstructured.NestedSlice(manager, "spec", "registrationConfiguration", "registrationDrivers")
	for _, driver := range drivers {
		if fields, is := driver.(map[string]any); is {
			out = append(out, fields)
		}
	}
	return out
}

func driversIn(manager map[string]any) (out []string) {
	for _, driver := range driverFields(manager) {
		name, _, _ := unstructured.NestedString(driver, "authType")
		out = append(out, name)
	}
	return out
}

// hubIn is the ARN that a ClusterManager says, empty for none.
func hubIn(manager map[string]any) string {
	for _, driver := range driverFields(manager) {
		if arn, _, _ := unstructured.NestedString(driver, core.DriverAWS, "hubClusterArn"); arn != "" {
			return arn
		}
	}
	return ""
}

// disabledIn is what a ClusterManager says of managed IAM, and whether it says it.
func disabledIn(manager map[string]any) (disabled, said bool) {
	for _, driver := range driverFields(manager) {
		if value, has, _ := unstructured.NestedBool(driver, core.DriverAWS, "disableManagedIam"); has {
			return value, true
		}
	}
	return false, false
}
