package migrate

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

const carmHelp = `Reads ACK's role maps (CARM: the config maps ack-role-account-map and
ack-role-team-map, and the annotations of namespaces), writes the IAMRoleSelectors
that give every resource the same role, lists what selectors cannot express, and
proves for every namespace, kind and resource that nothing changes.

Without a sub-command it is "plan".

Exit code 0: the selectors do the same. 1: there are differences, or the cluster cannot be
read. 2: selectors cannot express something (an administrator must act first), or the
input cannot be used. The command writes selectors only with exit code 0.

The command reads the cluster and never writes to it. It needs this ClusterRole, with the
API groups of your controllers. Leave a rule out where its remark allows that:

` + rights + `
Offline, -f takes files and folders of YAML or JSON, lists included:

  kubectl get namespaces,crds,iamroleselectors,deployments,serviceaccounts -A -o yaml > bundle/cluster.yaml
  kubectl get configmaps -n ack-system ack-role-account-map ack-role-team-map -o yaml > bundle/maps.yaml
  kubectl get buckets.s3.services.k8s.aws -A -o yaml > bundle/buckets.yaml

Controllers are found by their Deployments (arguments, environment, and the account
in the eks.amazonaws.com/role-arn of their ServiceAccount), or described in a file:

` + describeHelp

// inputs are the flags that say what is read.
type inputs struct {
	files           []string
	kubeconfig      command.Kubeconfig
	semantics       string
	controllersFile string
	controllers     []string
	account         string
	output          string
}

func newCARM(streams command.Streams, connect Connect) *cobra.Command {
	in := &inputs{}
	plan := newPlan(streams, connect, in)
	verify := newVerify(streams, connect, in)
	carm := &cobra.Command{
		Use:     "carm",
		Short:   "From ACK's role maps (CARM) to IAMRoleSelectors",
		Long:    carmHelp,
		Example: plan.Example + "\n" + verify.Example,
		Args:    command.NoArgs(streams),
		RunE:    plan.RunE,
	}
	carm.Flags().AddFlagSet(plan.Flags())
	f := carm.PersistentFlags()
	f.StringArrayVarP(&in.files, "filename", "f", nil, "read a `file` or folder of YAML or JSON instead of a cluster; - is the standard input; repeatable")
	in.kubeconfig.AddFlags(f)
	f.StringVar(&in.semantics, "controllers", "ack", "who reads the selectors: ack, or tabard for controllers that know effect: Deny")
	f.StringVar(&in.controllersFile, "controllers-file", "", "describe the controllers by a `file`, instead of finding their Deployments")
	f.StringArrayVar(&in.controllers, "controller", nil, "describe a controller as `KEY=VALUE,...`; lists are joined by +; repeatable")
	f.StringVar(&in.account, "account", "", "the `account` of all controllers of which it is not known otherwise")
	f.StringVarP(&in.output, "output", "o", "text", "the output's `format`: text, or json for programs")
	carm.AddCommand(plan, verify)
	return carm
}

// semantics are how the controllers read selectors.
func (in *inputs) readers() (semantics carm.Semantics, deny bool, err error) {
	switch in.semantics {
	case "ack":
		return carm.Shipped, false, nil
	case "tabard":
		return carm.Tabard, true, nil
	default:
		return nil, false, fmt.Errorf("--controllers is %q; it must be ack or tabard", in.semantics)
	}
}

func (in *inputs) check() error {
	if in.output != "text" && in.output != "json" {
		return fmt.Errorf("-o is %q; it must be text or json", in.output)
	}
	if len(in.files) > 0 && in.kubeconfig.IsSet() {
		return fmt.Errorf("-f reads files and --kubeconfig or --context a cluster: give one of them")
	}
	return nil
}

// read reads all that is needed: the controllers with what they look after.
func (in *inputs) read(ctx context.Context, streams command.Streams, connect Connect) (*bundle, []description, error) {
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	described, err := in.described(streams.In)
	if err != nil {
		return nil, nil, err
	}
	var from source = &files{paths: in.files, in: streams.In}
	if len(in.files) == 0 {
		client, err := connect(&in.kubeconfig)
		if err != nil {
			return nil, nil, err
		}
		defer command.Waiting(streams.Err, "all objects of the cluster that are compared")()
		from = &cluster{client: client, groups: groupsOf(described), findControllers: len(described) == 0}
	}
	objects, err := from.objects(ctx)
	if err != nil {
		return nil, nil, err
	}
	b := newBundle(groupsOf(described))
	if err := b.add(objects); err != nil {
		return nil, nil, err
	}
	if len(described) == 0 {
		if described, err = b.discover(); err != nil {
			return nil, nil, err
		}
	}
	for i := range described {
		described[i].complete(in.account)
	}
	more, err := from.configMaps(ctx, systemNamespaces(described))
	if err != nil {
		return nil, nil, err
	}
	if err := b.add(more); err != nil {
		return nil, nil, err
	}
	return b, described, b.sufficient(described)
}

// pairs reads KEY=VALUE flags.
func pairs(flag string, texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" || value == "" {
			return nil, fmt.Errorf("--%s=%q: expected KEY=VALUE", flag, text)
		}
		all[key] = value
	}
	return all, nil
}
