package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

const approveLong = `Approve an InstallPlan of OLM v0, if the role of each operator in it is enough for the version that it
installs. An InstallPlan may install several operators of a namespace at once: each is judged by the role in its
own Subscription.

A role that is not enough is refused, with what is missing. "tabard operators handoff" writes what the
owner of the account needs to extend it. --accept goes on all the same, and is recorded as an event, with the text of --reason.
The verdict is written on the InstallPlan, as the annotation operators.tabard.dev/permission-check. A
plan that changed since it was judged is not approved.

You need the right to patch installplans, which OLM's role "edit" does not have.

Exit codes: 0 approved, and with --wait installed; 1 refused, or changed in between, or not done after
--timeout; 2 the input cannot be used.`

type approveFlags struct {
	roleFlags
	acceptance
	namespace  string
	kubeconfig command.Kubeconfig
	dry        bool
	waitFlags
}

func newApprove(streams command.Streams, world World) *cobra.Command {
	f := &approveFlags{}
	out := &cobra.Command{
		Use:   "approve SUBSCRIPTION|INSTALLPLAN",
		Short: "Approve an install or an upgrade, if the role is enough for it",
		Long:  approveLong,
		Example: `  tabard operators approve my-operator -n my-operator
  tabard operators approve my-operator -n my-operator --role-documents role/ --dry-run`,
		DisableFlagsInUseLine: true,
		Args:                  oneName(streams, "the name of a Subscription or an InstallPlan"),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if err := errors.Join(f.acceptance.check(), f.checkRead(), f.waitFlags.check()); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world, args[0])
		}),
	}
	flags := out.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the `namespace` of the Subscription (default: that of the kubeconfig's context)")
	f.addRead(flags)
	f.acceptance.add(flags)
	flags.BoolVar(&f.dry, "dry-run", false, "show the verdict, and approve nothing")
	f.waitFlags.add(flags)
	f.kubeconfig.AddFlags(flags)
	return out
}

func (f *approveFlags) run(ctx context.Context, streams command.Streams, world World, name string) error {
	client, namespace, err := connected(world, &f.kubeconfig, f.namespace)
	if err != nil {
		return err
	}
	plan, err := f.judgePlan(ctx, streams, world, client, namespace, name)
	if err != nil {
		return err
	}
	if err := streams.Print(planText(plan)); err != nil {
		return err
	}
	judged, digest := operator.Sum(plan.Judged)
	if f.dry {
		if !judged.MayPass() {
			return &command.Exit{Code: command.Found, What: "the plan would not be approved"}
		}
		return streams.Print("this was a dry run: nothing was approved\n")
	}
	verdict, err := f.gate(streams, judged, digest, "what the plan installs")
	if err != nil {
		return err
	}
	written, err := f.planner(streams, world, client).Approve(ctx, plan, installing.Going{Verdict: verdict, Reason: f.reason}, time.Now())
	if err != nil {
		return refused(streams, goOn(err, waitingHints(namespace, plan.Plan.Name)))
	}
	f.sayUntold(streams, written)
	if err := streams.Print(fmt.Sprintf("approved InstallPlan %s/%s\n", namespace, command.Plain(plan.Plan.Name))); err != nil {
		return err
	}
	if !f.wait {
		return nil
	}
	return f.follow(ctx, streams, client, plan)
}

// connected makes a client, and finds the namespace.
func connected(world World, kubeconfig *command.Kubeconfig, namespace string) (olm.Client, string, error) {
	client, err := world.OLM(kubeconfig)
	if err == nil && namespace == "" {
		namespace, err = kubeconfig.Namespace()
	}
	return client, namespace, err
}

// follow follows each operator of the plan to its end.
func (f *approveFlags) follow(ctx context.Context, streams command.Streams, client olm.Client, p installing.Waiting) error {
	for _, s := range p.Subscriptions {
		if !slices.Contains(p.Plan.CSVs, s.CurrentCSV) {
			continue
		}
		wanted := operator.Follow(s)
		wanted.CSV = s.CurrentCSV
		through := follower{streams: streams, client: client, wanted: wanted, timeout: f.timeout}
		if err := through.follow(ctx); err != nil {
			return err
		}
		if err := streams.Print(fmt.Sprintf("%s is installed\n", command.Plain(wanted.CSV))); err != nil {
			return err
		}
	}
	return nil
}
