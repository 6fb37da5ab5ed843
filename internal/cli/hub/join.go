package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/ocmhook"
)

const joinLong = `Let a cluster join a hub. It is called as "clusteradm join" is, with the kubeconfig of the joining
cluster, and goes on where that has begun. Open Cluster Management's operator has to be installed
there; if it is not, the command says how. It writes, in this order:

  1. the namespace open-cluster-management-agent. With --registration-auth awsirsa it gets the
     label tabard.dev/ocm=enabled, by which Tabard's admission hook is asked about its pods;
  2. the Secret bootstrap-hub-kubeconfig, by which the agents first reach the hub;
  3. the Klusterlet.

With --registration-auth awsirsa, a cluster in EKS joins by the role of its own account. Its ARN is
that of --managed-cluster-arn, or else the kubeconfig's name of the chosen cluster, if that is one
in EKS. Any other cluster has no ARN, and gets its identity in one of two ways:

- --iam-config-secret: a Secret in the agents' namespace with the agents' files of AWS, in its keys
  config and credentials. Make it before. The definition of Klusterlet must have the field
  ("tabard hub fields --apply");
- --hub-role web-identity: the agents' own tokens, with no stored key. The cluster's token issuer
  has to be public ("tabard issuer bootstrap").

Both need the chart's component ocm: without it, Open Cluster Management's operator ends at a
Klusterlet that has no ARN. The command lets the API server check the Klusterlet before it writes
anything, and refuses then.

Add-ons register by tokens that live a day, unless a flag says otherwise. The token of --hub-token
is printed nowhere.

Exit codes: 0 all is written, or --dry-run showed it; 1 refused, or not there after --timeout;
2 the input cannot be used.`

// withoutToken stands for the token where the Secret is printed.
const withoutToken = "REDACTED: the token of --hub-token"

// joining is the command's world and flags.
type joining struct {
	world               World
	kubeconfig          command.Kubeconfig
	hub                 reach
	want                core.Join
	name                string
	hubARN, managedARN  string
	hubRole, mode       string
	singleton           bool
	clusterAnnotations  []string
	images              images
	dryRun              bool
	output              command.Output
	patience            patience
	out                 io.Writer
	cluster             Cluster
	existing            map[string]any
	namespace, secret   map[string]any
	klusterlet, checked map[string]any
}

func newHubJoin(world World) *cobra.Command {
	j := joining{world: world}
	out := &cobra.Command{
		Use:   "join",
		Short: "Let a cluster join a hub: write its Klusterlet",
		Long:  joinLong,
		Example: `  # what would be written for a cluster in EKS
  tabard hub join --cluster-name cluster1 --hub-token "$HUB_TOKEN" --hub-apiserver "$HUB_API_SERVER" \
    --registration-auth awsirsa --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub \
    --managed-cluster-arn arn:aws:eks:us-east-1:222222222222:cluster/spoke-1 --dry-run -o yaml

  # a cluster outside EKS, with the Secret iam-config
  tabard hub join --cluster-name onprem-1 --hub-token "$HUB_TOKEN" --hub-apiserver "$HUB_API_SERVER" \
    --registration-auth awsirsa --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub \
    --iam-config-secret iam-config

  # one outside EKS, with no stored key
  tabard hub join --cluster-name onprem-1 --hub-token "$HUB_TOKEN" --hub-apiserver "$HUB_API_SERVER" \
    --registration-auth awsirsa --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub \
    --hub-role web-identity --wait`,
		Args: command.NoArgs(world.Streams),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, _ []string) error {
			return j.run(cmd.Context())
		}),
	}
	j.add(out)
	return out
}

func (j *joining) add(c *cobra.Command) {
	f := c.Flags()
	j.kubeconfig.AddFlags(f)
	j.hub.add(f)
	f.StringVar(&j.name, "cluster-name", "", "the cluster's `name` at the hub (default: that of its Klusterlet, its name in EKS, or the kubeconfig's)")
	f.StringVar(&j.want.AuthType, "registration-auth", core.DriverCSR, "how the cluster registers: `csr|awsirsa|grpc`")
	f.StringVar(&j.hubARN, "hub-cluster-arn", "", "for awsirsa: the `ARN` of the hub in EKS")
	f.StringVar(&j.managedARN, "managed-cluster-arn", "", "for awsirsa: the `ARN` of this cluster in EKS (default: the kubeconfig's name of the cluster, if it is one)")
	f.StringVar(&j.want.IAMConfigSecret, "iam-config-secret", "", "for awsirsa: the `name` of the Secret with the agents' files of AWS")
	f.StringVar(&j.hubRole, "hub-role", "", "for awsirsa: `web-identity` makes the agents become the hub's role with their own tokens")
	f.StringVarP(&j.mode, "mode", "m", core.ModeDefault, "how the agents are deployed: `Default|Singleton`")
	f.BoolVar(&j.singleton, "singleton", false, "deploy one agent for both, as --mode Singleton does")
	f.StringArrayVar(&j.clusterAnnotations, "klusterlet-annotation", nil, "`KEY=VALUE` of an annotation of the ManagedCluster; KEY gets the prefix agent.open-cluster-management.io/. May be repeated")
	f.StringVar(&j.want.AddOnAuth, "addon-kubeclient-registration-auth", "", "how add-ons register: `csr|token` (default: token for awsirsa, else csr)")
	f.Int64Var(&j.want.AddOnSeconds, "addon-token-expiration-seconds", 0, "the life of add-ons' tokens in `seconds` (default: a day, 86400)")
	j.images.add(f)
	f.BoolVar(&j.dryRun, "dry-run", false, "have the API server check the Klusterlet, and write nothing; -o yaml prints all objects, without the token")
	j.patience.add(f, "the agents run and the hub knows the cluster")
	j.output.AddFlags(c)
}

// check refuses what of the flags cannot be used without a cluster.
func (j *joining) check() (err error) {
	if err := errors.Join(j.output.Check(), j.hub.check()); err != nil {
		return err
	}
	j.want.AgentNamespace = core.AgentNamespace
	for _, mode := range []string{core.ModeDefault, core.ModeSingleton} {
		if strings.EqualFold(j.mode, mode) { // clusteradm takes the mode in small letters, too
			j.mode = mode
		}
	}
	if j.singleton {
		j.mode = core.ModeSingleton
	}
	j.want.Mode = j.mode
	if j.hubRole != "" {
		j.want.Annotations = map[string]string{ocmhook.HubRoleAnnotation: j.hubRole}
	}
	if j.want.ClusterAnnotations, err = core.ClusterAnnotations(j.clusterAnnotations); err != nil {
		return err
	}
	if j.hubARN != "" {
		if j.want.Hub, err = core.ParseARN(j.hubARN); err != nil {
			return fmt.Errorf("--hub-cluster-arn: %w", err)
		}
	}
	return nil
}

// resolve says which cluster joins.
func (j *joining) resolve() (err error) {
	kubeconfig, err := j.kubeconfig.ClusterName()
	if err != nil {
		return err
	}
	if j.want.AuthType == core.DriverAWS || j.managedARN != "" {
		arn, said, err := core.ManagedARN(j.managedARN, kubeconfig, j.want.Hub)
		if err != nil {
			return err
		}
		say(j.world.Streams.Err, "%s", said)
		j.want.Managed = arn
	}
	joined, _, _ := unstructured.NestedString(j.existing, "spec", "clusterName")
	name, said, err := core.ClusterName(j.name, joined, j.want.Managed, kubeconfig)
	if err != nil {
		return err
	}
	if said != "" {
		say(j.world.Streams.Err, "%s", said)
	}
	j.want.Cluster = name
	return j.want.Check()
}

func (j *joining) run(ctx context.Context) error {
	if err := j.check(); err != nil {
		return err
	}
	streams := j.world.Streams
	j.out = forPeople(streams, j.output)
	var err error
	if j.cluster, err = j.world.Cluster(&j.kubeconfig); err != nil {
		return err
	}
	var found core.Images
	if j.existing, found, err = theKlusterlet.look(ctx, j.cluster, j.images); err != nil {
		return streams.Refuse(command.Found, err)
	}
	if err := j.resolve(); err != nil {
		return err
	}
	if err := j.plan(ctx, found); err != nil {
		return streams.Refuse(command.Found, err)
	}
	if err := j.write(ctx); err != nil {
		return streams.Refuse(command.Found, err)
	}
	if !j.output.IsForPeople() {
		return streams.PrintAs(j.output, command.Printed{Document: map[string]any{
			"apiVersion": "v1", "kind": "List", "items": []any{j.namespace, j.redacted(), shown(j.klusterlet)},
		}})
	}
	return nil
}

// plan says what is to be written, and has the API server check it.
func (j *joining) plan(ctx context.Context, found core.Images) (err error) {
	if j.klusterlet, err = j.want.Klusterlet(j.existing, found); err != nil {
		return err
	}
	if err := j.admissible(); err != nil {
		return err
	}
	if err := j.hub.find(ctx, j.world, j.world.Streams.Err, j.want.Cluster); err != nil {
		return err
	}
	if j.checked, err = j.applyKlusterlet(ctx, true); err != nil {
		return err
	}
	kubeconfig, err := j.hub.kubeconfig()
	if err != nil {
		return err
	}
	j.namespace, j.secret = namespaceOf(j.want), secretOf(kubeconfig)
	planned, err := j.planned(ctx)
	if err != nil {
		return err
	}
	showPlan(j.out, planned)
	return nil
}

// admissible refuses what Tabard's admission hook would refuse, where there is none, too.
func (j *joining) admissible() error {
	if j.want.AuthType != core.DriverAWS {
		return nil
	}
	read, err := readKlusterlet(j.klusterlet)
	if err != nil {
		return err
	}
	if d := ocmhook.AdmitKlusterlet(read); d.Refusal != "" {
		return errors.New(d.Refusal)
	}
	return nil
}

// planned compares what is to be written with what is there.
func (j *joining) planned(ctx context.Context) ([]core.Planned, error) {
	out := []core.Planned{
		{Change: core.ToKeep, Object: "Namespace " + core.AgentNamespace}, {Change: core.ToReplace, Object: "Secret " + core.AgentNamespace + "/" + bootstrapSecret},
		{Change: changeOf(j.existing, j.checked), Object: "Klusterlet " + theKlusterlet.name},
	}
	var namespace corev1.Namespace
	err := j.cluster.Get(ctx, client.ObjectKey{Name: core.AgentNamespace}, &namespace)
	switch {
	case apierrors.IsNotFound(err):
		out[0].Change = core.ToCreate
	case err != nil:
		return nil, fmt.Errorf("read the namespace %s: %w", core.AgentNamespace, err)
	case j.want.AuthType == core.DriverAWS && namespace.Labels[core.HookLabel] != core.HookLabelValue:
		out[0].Change = core.ToReplace
	}
	var secret corev1.Secret
	err = j.cluster.Get(ctx, client.ObjectKey{Namespace: core.AgentNamespace, Name: bootstrapSecret}, &secret)
	switch {
	case apierrors.IsNotFound(err):
		out[1].Change = core.ToCreate
	case err != nil:
		return nil, fmt.Errorf("read the Secret %s/%s: %w", core.AgentNamespace, bootstrapSecret, err)
	}
	return out, j.lookAtConfig(ctx)
}

// lookAtConfig says that the Secret with the agents' files of AWS is not there yet.
func (j *joining) lookAtConfig(ctx context.Context) error {
	name := j.want.IAMConfigSecret
	if name == "" {
		return nil
	}
	var secret corev1.Secret
	err := j.cluster.Get(ctx, client.ObjectKey{Namespace: core.AgentNamespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		say(j.world.Streams.Err, "warning: there is no Secret %s/%s, and the agents' pods wait for it: kubectl -n %[1]s create secret generic %[2]s --from-file config=./aws.config --from-file credentials=./aws.credentials", core.AgentNamespace, name)
		return nil
	}
	return err
}

func readKlusterlet(object map[string]any) (ocmhook.Klusterlet, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return ocmhook.Klusterlet{}, fmt.Errorf("the Klusterlet: %w", err)
	}
	return ocmhook.ReadKlusterlet(text)
}
