package operators

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
)

const statusLong = `Show how far the installs of operators are, by their Subscriptions. There are ten stages, from the
catalogue to the credentials that an operator with a role gets, and seven for an operator without one.
OLM's own states do not say whether an operator works: a Subscription can be AtLatestKnown while its
InstallPlan has failed.

With the name of a Subscription each stage is shown. The command only reads: Subscriptions,
CatalogSources, OperatorGroups, InstallPlans, ClusterServiceVersions, Deployments,
CredentialsRequests, and of Secrets the metadata. What you may not read makes its stage unknown.

Exit codes: 0 all that is shown is installed; 1 something is not, or the cluster cannot be read; 2 the
input cannot be used.`

type statusFlags struct {
	namespace  string
	all        bool
	kubeconfig command.Kubeconfig
	output     command.Output
}

func newStatus(streams command.Streams, world World) *cobra.Command {
	f := &statusFlags{}
	out := &cobra.Command{
		Use:   "status [SUBSCRIPTION]",
		Short: "Show how far the installs of operators are",
		Long:  statusLong,
		Example: `  tabard operators status -A
  tabard operators status my-operator -n my-operator`,
		Args: atMostOne(streams, "the name of a Subscription"),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world, args)
		}),
	}
	flags := out.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the `namespace` of the Subscriptions (default: that of the kubeconfig's context)")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "those of all namespaces")
	f.kubeconfig.AddFlags(flags)
	f.output.AddFlags(out)
	f.output.AddHeaderFlag(out)
	return out
}

func (f *statusFlags) check(args []string) error {
	if f.all && (f.namespace != "" || len(args) > 0) {
		return fmt.Errorf("--all-namespaces shows all Subscriptions: leave it out, or the namespace and the name")
	}
	return f.output.Check()
}

func (f *statusFlags) run(ctx context.Context, streams command.Streams, world World, args []string) error {
	client, err := world.OLM(&f.kubeconfig)
	if err == nil && !f.all && f.namespace == "" {
		f.namespace, err = f.kubeconfig.Namespace()
	}
	if err != nil {
		return err
	}
	found, err := client.List(ctx, f.namespace)
	if err != nil {
		return streams.Refuse(command.Found, err)
	}
	if len(args) > 0 {
		found = slices.DeleteFunc(found, func(s operator.Subscription) bool { return s.Name != args[0] })
		if len(found) == 0 {
			return usage.Wrong(fmt.Errorf("there is no Subscription %s in the namespace %s: tabard operators status -A shows all", catalogue.Quoted(args[0]), f.namespace))
		}
	}
	slices.SortFunc(found, func(a, b operator.Subscription) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	client = client.Once()
	all := make([]operator.Status, 0, len(found))
	for _, s := range found {
		one, err := statusOf(ctx, client, s)
		if err != nil {
			return streams.Refuse(command.Found, err)
		}
		all = append(all, one)
	}
	return f.print(streams, all, len(args) > 0)
}

func statusOf(ctx context.Context, client olm.Client, s operator.Subscription) (operator.Status, error) {
	objects, err := client.Observe(ctx, operator.Follow(s))
	if err != nil {
		return operator.Status{}, err
	}
	return operator.StatusOf(s, objects, time.Now()), nil
}

func (f *statusFlags) print(streams command.Streams, all []operator.Status, one bool) error {
	where := "in the namespace " + f.namespace
	if f.all {
		where = "in the cluster"
	}
	printed := command.Printed{
		Document: escaped{command.ListOf("OperatorInstallList", all)},
		Header:   []string{"NAMESPACE", "SUBSCRIPTION", "VERSION", "UPGRADE", "STAGE", "STATE", "WHAT"},
		None:     "There is no Subscription " + where + ".\n",
	}
	waits := 0
	for _, s := range all {
		last := s.Last()
		state := string(last.State)
		if !s.Installed {
			waits++
		}
		printed.Rows = append(printed.Rows, []string{s.Namespace, s.Subscription, orDash(s.CSV), orDash(s.Next), fmt.Sprintf("%d/%d %s", last.N, s.Of, last.Name), state, last.Sentence})
		printed.Names = append(printed.Names, "subscription.operators.coreos.com/"+s.Subscription)
	}
	if one && f.output.IsForPeople() {
		printed.Text = func() string { return statusText(all[0]) }
	}
	if err := streams.PrintAs(f.output, printed); err != nil {
		return err
	}
	if waits > 0 {
		return &command.Exit{Code: command.Found, What: line.Count(waits, "install is not done", "installs are not done")}
	}
	return nil
}

// statusText is one install for people: each stage, and what to do next.
func statusText(s operator.Status) string {
	var out lines
	for _, stage := range s.Stages {
		out.say("%2d/%d %-8s %-12s %s", stage.N, s.Of, stage.State, stage.Name, stage.Sentence)
	}
	if next := s.Last().Next; next != "" {
		out.say("next: %s", next)
	}
	if s.Next != "" {
		out.say("An upgrade to %s waits: tabard operators upgrade-diff %s -n %s says what it asks for, and tabard operators approve %s -n %s approves it.",
			s.Next, line.Word(s.Subscription), s.Namespace, line.Word(s.Subscription), s.Namespace)
	}
	return out.String()
}
