package selector

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

const explainHelp = `Shows the IAM role of a resource, and why it has this role. For each IAMRoleSelector it
compares each criterion with the resource. It also shows the decision, the role that the
controller has used so far, whether the two are the same, and what to type next.

KIND is a kind, plural or short name, with its group if several have it: bucket,
buckets, buckets.s3.services.k8s.aws.

Exit code 0: the resource gets a role, or the controller uses its own role. 1: the
resource is blocked (conflict, denied, invalid), or something is unknown on which the
role depends, or the cluster cannot be read. 2: the input cannot be used, such as the name of
a resource that is not there.

The command only reads the cluster. It needs this ClusterRole, with the API groups of
your resources. If a right is missing, the command says which, and what it could not
find out:

` + rights + `
` + administratorHelp + `

ACK's own controllers support neither choices, nor Deny, nor expressions. This command
shows the role for controllers that support all fields.`

// explainFlags are those of explain.
type explainFlags struct {
	kubeconfig command.Kubeconfig
	namespace  string
	output     command.Output
	show       string
	account    string
	administrator
}

func newExplain(streams command.Streams, connect Connect) *cobra.Command {
	flags := &explainFlags{}
	explain := &cobra.Command{
		Use:   "explain resource/KIND/NAME",
		Short: "Show the IAM role of a resource, and why it has this role",
		Long:  explainHelp,
		Example: `  tabard explain resource/bucket/logs -n prod
  tabard explain resource/buckets.s3.services.k8s.aws/logs -n prod -o json
  tabard selector explain bucket/logs -n prod --show matching`,
		SilenceUsage: true, SilenceErrors: true,
		Args: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s takes one argument, and got %d; see %s --help", c.CommandPath(), len(args), c.CommandPath())
			}
			return nil
		}),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			onlyResources := c.HasParent() && c.Parent().Name() == "selector"
			kind, name, err := parseArgument(args[0], onlyResources)
			if err != nil {
				return err
			}
			return flags.run(c.Context(), streams, connect, kind, name)
		}),
	}
	f := explain.Flags()
	f.StringVarP(&flags.namespace, "namespace", "n", "", "the resource's `namespace` (default: that of the kubeconfig)")
	flags.kubeconfig.AddFlags(f)
	flags.output.AddFlags(explain)
	f.StringVar(&flags.show, "show", "all", "which selectors are listed: all, or matching for those that select the resource")
	f.StringVar(&flags.account, "controller-account", "", "the `account` of the controller's own role, to say what follows where no selector applies")
	flags.add(f)
	return explain
}

func (f *explainFlags) run(ctx context.Context, streams command.Streams, connect Connect, kindName, name string) error {
	if err := f.output.Check(); err != nil {
		return err
	}
	if f.show != "all" && f.show != "matching" {
		return fmt.Errorf("--show is %q; it must be all or matching", f.show)
	}
	if err := f.check(); err != nil {
		return err
	}
	cluster, err := connect(&f.kubeconfig)
	if err != nil {
		return err
	}
	k, err := cluster.findKind(ctx, kindName)
	if err != nil {
		return err
	}
	namespace := f.namespace
	switch {
	case k.namespaced && namespace == "":
		namespace = cluster.Namespace
	case !k.namespaced && namespace != "":
		return fmt.Errorf("%s has no namespaces: leave -n out", k.GroupKind())
	}
	r, err := cluster.get(ctx, k, namespace, name)
	if err != nil {
		return err
	}
	w := newWorld(f.administrator)
	cluster.read(ctx, w, namespace)
	document, err := w.explain(r, k, f.account)
	if err != nil {
		return err
	}
	if f.show == "matching" {
		document.keepMatching()
	}
	if err := streams.PrintAs(f.output, command.Printed{Document: document, Text: document.text}); err != nil {
		return err
	}
	if !document.mayCallAWS {
		return &command.Exit{Code: command.Found, What: document.Decision.Message}
	}
	return nil
}
