// Package explain holds the commands "tabard explain pod" and "tabard explain serviceaccount": they
// read the cluster and AWS, and core/chain says which link of the chain is broken. They store nothing.
package explain

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/evidence"
)

// World is what the commands need; the program's wiring fills it.
type World struct {
	Streams command.Streams
	// Connect connects to the cluster and to AWS. Its text is the namespace of the kubeconfig.
	Connect func(*command.Kubeconfig) (evidence.Sources, string, error)
}

const about = `Walks the chain from the API server's key to the role's trust policy and its permissions, and marks
the first link that is broken: what was observed, what is required, the command that mends it, and the one that
shows that it is mended. Other faults are listed behind it.

It needs nothing of Tabard in the cluster, and works with the webhook of EKS. It reads the cluster
by your kubeconfig and AWS by your session, and stores nothing. What you may not read is said in a
line of its own, with the right that is missing; it never counts as well.

Where an annotation names the role, it asks the API server for a pod by dry run. Nothing is stored.
The admission webhooks and the audit log see it: a pod called tabard-explain-*.

The rights that it uses: in the cluster, get pods and serviceaccounts in the namespace, and for the
issuer and its keys either the ClusterRole system:service-account-issuer-discovery, or create
serviceaccounts/token in the namespace, which edit has: then a token is requested that no service accepts,
and only its issuer and its key's ID are kept. For the webhook, create pods, which edit has; who may
list mutatingwebhookconfigurations and get the namespace is told why no identity comes. In AWS,
iam:GetRole, iam:GetOpenIDConnectProvider, iam:ListRolePolicies and iam:ListAttachedRolePolicies in
the account of the role; with --action also iam:GetRolePolicy, iam:GetPolicy and iam:GetPolicyVersion.
The issuer's documents are fetched from this machine, without credentials.

With --action and --resource it reads the role's policies and its permissions boundary, and says
whether they allow the call. Policies of organizations, of sessions and of resources are not seen.

Exit codes: 0 every link that is looked at is sound; 1 a link is broken, or the cluster refuses to
show what is asked about; 2 what was typed cannot be used, such as a name that is not there; 3 nothing
broken was seen, and something could not be.`

// flags are those of one command.
type flags struct {
	kubeconfig command.Kubeconfig
	namespace  string
	output     command.Output
	calls      calls
}

// AddTo adds the commands to "explain", which takes pod/NAME and serviceaccount/NAME too then.
func AddTo(parent *cobra.Command, world World) {
	pod := newCommand(world, "pod", []string{"pods", "po"}, "Show why a pod gets its role, or the broken link and what mends it",
		`  tabard explain pod checkout-6d9c -n shop
  tabard explain pod checkout-6d9c -n shop --action s3:GetObject --resource arn:aws:s3:::orders/today.csv
  tabard explain pod shop/checkout-6d9c
  tabard explain pod/checkout-6d9c -n shop -o json`)
	account := newCommand(world, "serviceaccount", []string{"serviceaccounts", "sa"}, "Show why a ServiceAccount gets its role, or the broken link and what mends it",
		`  tabard explain serviceaccount checkout -n shop
  tabard explain sa shop/checkout`)
	parent.AddCommand(pod, account)
	parent.Short = "Show why a pod, a ServiceAccount or a resource has its role, or what is broken and what mends it"
	parent.Long = "Of a pod or a ServiceAccount, shows the first broken link between it and its role, and what mends it:\nsee tabard explain pod --help.\n\nOf a resource: " + lowered(parent.Long)
	parent.Example = pod.Example + "\n" + account.Example + "\n" + parent.Example
	known := map[string]*cobra.Command{}
	for _, c := range []*cobra.Command{pod, account} {
		for _, word := range append([]string{c.Name()}, c.Aliases...) {
			known[word] = c
		}
	}
	var ofResource calls
	ofResource.addFlags(parent.Flags())
	run := parent.RunE
	parent.RunE = func(c *cobra.Command, args []string) error {
		word, name, has := strings.Cut(args[0], "/")
		if below := known[word]; has && below != nil {
			return below.RunE(passed(c, below), []string{name})
		}
		if c.Flags().Changed("action") || c.Flags().Changed(resourceFlag) {
			return command.Spoken(world.Streams, func(*cobra.Command, []string) error {
				return fmt.Errorf("--action and --resource are for pods and ServiceAccounts, as in %s pod/NAME, and not for %.300q", c.CommandPath(), args[0])
			})(c, args)
		}
		return run(c, args)
	}
}

// lowered is a text whose first letter is a small one.
func lowered(text string) string {
	return strings.ToLower(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// passed is a command with the flags and the context that another one was called with.
func passed(from, to *cobra.Command) *cobra.Command {
	to.SetContext(from.Context())
	from.Flags().Visit(copyInto(to))
	return to
}

// copyInto sets the flags of a command as those of another one are.
func copyInto(to *cobra.Command) func(*pflag.Flag) {
	return func(flag *pflag.Flag) {
		target := to.Flags().Lookup(flag.Name)
		if target == nil {
			return
		}
		if several, is := flag.Value.(pflag.SliceValue); is {
			if into, ok := target.Value.(pflag.SliceValue); ok {
				_ = into.Replace(several.GetSlice()) // it was taken for the same flag before
				target.Changed = true
			}
			return
		}
		_ = to.Flags().Set(flag.Name, flag.Value.String()) // it was taken for the same flag before
	}
}

func newCommand(world World, kind string, aliases []string, short, example string) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: kind + " NAME", Aliases: aliases, Short: short, Long: about, Example: example,
		SilenceUsage: true, SilenceErrors: true,
		Args: command.Spoken(world.Streams, func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s takes the name of one %s, and got %d; see %s --help", c.CommandPath(), kind, len(args), c.CommandPath())
			}
			return nil
		}),
		RunE: command.Spoken(world.Streams, func(c *cobra.Command, args []string) error {
			var asked chain.Subject
			if err := f.calls.typed(c.Flags(), &asked); err != nil {
				return err
			}
			return f.run(c.Context(), world, kind, args[0], asked)
		}),
	}
	c.Flags().StringVarP(&f.namespace, "namespace", "n", "", "the `namespace` (default: that of the kubeconfig)")
	f.kubeconfig.AddFlags(c.Flags())
	f.output.AddFlags(c)
	f.calls.addFlags(c.Flags())
	return c
}

// subject reads NAME and NAMESPACE/NAME.
func (f *flags) subject(kind, argument, usual string) (chain.Subject, error) {
	namespace, name, has := strings.Cut(argument, "/")
	switch {
	case !has:
		namespace, name = f.namespace, argument
	case f.namespace != "" && f.namespace != namespace:
		return chain.Subject{}, fmt.Errorf("%s is of the namespace %s, and --namespace says %s: leave one of them out", argument, namespace, f.namespace)
	}
	if namespace == "" && !has {
		namespace = usual
	}
	if name == "" || namespace == "" || strings.Contains(name, "/") {
		return chain.Subject{}, fmt.Errorf("%q is no name of a %s, expected NAME or NAMESPACE/NAME", argument, kind)
	}
	if kind == "pod" {
		return chain.Subject{Namespace: namespace, Pod: name}, nil
	}
	return chain.Subject{Namespace: namespace, Account: name}, nil
}

func (f *flags) run(ctx context.Context, world World, kind, argument string, asked chain.Subject) error {
	if err := f.output.Check(); err != nil {
		return err
	}
	sources, usual, err := world.Connect(&f.kubeconfig)
	if err != nil {
		return err
	}
	subject, err := f.subject(kind, argument, usual)
	if err != nil {
		return err
	}
	subject.Actions, subject.Resource = asked.Actions, asked.Resource
	seen, err := sources.Read(ctx, subject)
	if err != nil {
		return err
	}
	report := chain.Explain(seen)
	report.OnCluster(f.kubeconfig.Flags())
	printed := command.Printed{Document: document{command.MetaOf("Explanation"), report}, Text: func() string { return text(&report) }}
	if err := world.Streams.PrintAs(f.output, printed); err != nil {
		return err
	}
	switch report.Verdict {
	case chain.Unhealthy:
		return &command.Exit{Code: command.Found, What: report.First.Symptom}
	case chain.Undetermined:
		return &command.Exit{Code: usage.Undetermined, What: report.Lacking()[0].Text}
	case chain.Healthy:
	}
	return nil
}

// document is the answer for programs.
type document struct {
	command.Meta `json:",inline"`
	chain.Report `json:",inline"`
}
