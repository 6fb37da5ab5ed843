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
)

const approveLong = `Approve an InstallPlan of OLM v0, if the role of each operator in it is enough for the version that it
installs. An InstallPlan may install several operators of a namespace at once: each is judged by the role in its
own Subscription.

A role that is not enough is refused, with what is missing. "tabard operators handoff" writes what the
owner of the account needs to extend it. --accept goes on all the same, and is recorded as an event.
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
	if err := streams.Print(plan.text()); err != nil {
		return err
	}
	judged, digest := operator.Sum(plan.judged)
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
	if err := may(ctx, streams, client, olm.Approves(namespace)); err != nil {
		return err
	}
	checked := operator.Checked{Verdict: verdict, Digest: digest, At: time.Now()}
	err = f.approve(ctx, client, plan, checked)
	if errors.Is(err, olm.ErrChanged) {
		// Somebody else may have noted a verdict, as the controller operators does.
		again, failed := f.judgePlan(ctx, streams, world, client, namespace, plan.plan.Name)
		if failed != nil {
			return failed
		}
		if plan.isAs(again) {
			err = f.approve(ctx, client, again, checked)
		}
	}
	if err != nil {
		return streams.Refuse(command.Found, fmt.Errorf("not approved: %w", err))
	}
	if err := f.tell(ctx, streams, client, plan, checked, judged); err != nil {
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

// approve approves the plan as it was judged.
func (f *approveFlags) approve(ctx context.Context, client olm.Client, p planned, checked operator.Checked) error {
	now, err := client.List(ctx, p.namespace)
	if err != nil {
		return err
	}
	if !p.unchanged(now) {
		return errors.New("the role in a Subscription was changed in between: look again")
	}
	return client.Approve(ctx, p.namespace, p.plan, checked.String())
}

// tell says that the plan is approved, to the person and by an event.
func (f *approveFlags) tell(ctx context.Context, streams command.Streams, client olm.Client, p planned, checked operator.Checked, judged operator.Verdict) error {
	kind, reason := "Normal", "PermissionsApproved"
	if checked.Verdict == operator.VerdictOverridden {
		kind, reason = "Warning", "PermissionsOverridden"
	}
	record(ctx, streams, client, olm.About{Kind: operator.KindPlan, Namespace: p.namespace, Name: p.plan.Name}, kind, reason, fmt.Sprintf("approved with the verdict %s", judged))
	return streams.Print(fmt.Sprintf("approved InstallPlan %s/%s\n", p.namespace, command.Plain(p.plan.Name)))
}

// follow follows each operator of the plan to its end.
func (f *approveFlags) follow(ctx context.Context, streams command.Streams, client olm.Client, p planned) error {
	for _, s := range p.subscriptions {
		if !slices.Contains(p.plan.CSVs, s.CurrentCSV) {
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
