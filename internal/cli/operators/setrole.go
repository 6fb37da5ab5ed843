package operators

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

const setRoleLong = `Give an operator that is installed another role, by the variables in its Subscription. Other variables
stay as they are. OLM then restarts the operator's Deployments. The role is compared first with what the
installed version asks for, as "tabard operators install" does.

Exit codes: 0 written, or it was so already, and with --wait used; 1 refused, changed in between, or
not done after --timeout; 2 the input cannot be used.`

type setRoleFlags struct {
	roleFlags
	acceptance
	namespace  string
	kubeconfig command.Kubeconfig
	dry, yes   bool
	waitFlags
}

func newSetRole(streams command.Streams, world World) *cobra.Command {
	f := &setRoleFlags{}
	out := &cobra.Command{
		Use:   "set-role SUBSCRIPTION (--role-arn ARN | --azure-… | --gcp-…)",
		Short: "Give an installed operator another role",
		Long:  setRoleLong,
		Example: `  tabard operators set-role my-operator -n my-operator --role-arn arn:aws:iam::123456789012:role/other
  tabard operators set-role my-operator -n my-operator --role-arn arn:aws:iam::123456789012:role/other --dry-run`,
		DisableFlagsInUseLine: true,
		Args:                  oneName(streams, "the name of a Subscription"),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if _, err := f.values(""); err != nil {
				return usage.Wrong(err)
			}
			if err := errors.Join(f.acceptance.check(), f.checkRead(), f.waitFlags.check()); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world, args[0])
		}),
	}
	flags := out.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the `namespace` of the Subscription (default: that of the kubeconfig's context)")
	f.roleFlags.add(flags)
	f.acceptance.add(flags)
	flags.BoolVar(&f.dry, "dry-run", false, "show what would change, and write nothing")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before anything is written; without a terminal nothing is asked anyway")
	f.waitFlags.add(flags)
	f.kubeconfig.AddFlags(flags)
	return out
}

func (f *setRoleFlags) run(ctx context.Context, streams command.Streams, world World, name string) error {
	client, namespace, err := connected(world, &f.kubeconfig, f.namespace)
	if err != nil {
		return err
	}
	planner := f.planner(streams, world, client)
	s, err := planner.Subscription(ctx, namespace, name)
	if err != nil {
		return refused(streams, goOn(err, func(installing.Code) hint { return hint{": tabard operators status -A shows all", true} }))
	}
	facts, err := tokenfacts.Observe(ctx, client.Objects)
	if err != nil {
		return err
	}
	values, err := f.values(facts.Partition())
	if err != nil {
		return usage.Wrong(err)
	}
	role, err := planner.OtherRole(ctx, s, values)
	if err != nil {
		return refused(streams, err)
	}
	if role.Has {
		f.sayUntold(streams, installing.Written{})
		if err := streams.Print(fmt.Sprintf("the Subscription %s/%s has this role already\n", namespace, command.Plain(name))); err != nil {
			return err
		}
	} else if written, err := f.write(ctx, streams, client, role); err != nil || !written {
		return err
	}
	if !f.wait {
		return nil
	}
	wanted := operator.Follow(s)
	wanted.Values, wanted.Identity = values, operator.IdentityOf(values)
	return (&follower{streams: streams, client: client, wanted: wanted, timeout: f.timeout}).follow(ctx)
}

// write shows the change, and makes it if nothing speaks against it.
func (f *setRoleFlags) write(ctx context.Context, streams command.Streams, client olm.Client, role installing.OtherRole) (bool, error) {
	if err := streams.Print(roleText(role)); err != nil {
		return false, err
	}
	if f.dry {
		return false, streams.Print("this was a dry run: nothing was written\n")
	}
	s := role.Subscription
	verdict, err := f.gate(streams, role.Judged.Verdict, role.Judged.Digest, strings.TrimSpace(s.InstalledCSV))
	if err != nil {
		return false, err
	}
	written, err := role.Apply(ctx, client, installing.Going{Verdict: verdict, Reason: f.reason, Sure: func() error { return f.sure(streams) }})
	if err != nil {
		return false, refused(streams, err)
	}
	f.sayUntold(streams, written)
	return true, streams.Print(fmt.Sprintf("the Subscription %s/%s has the role %s\n", s.Namespace, command.Plain(s.Name), command.Plain(operator.IdentityOf(role.Values))))
}

// sure asks a person at a terminal before the role is changed.
func (f *setRoleFlags) sure(streams command.Streams) error {
	confirm := command.Confirm(streams.In, streams.Err)
	if confirm == nil || f.yes {
		return nil
	}
	if ok, err := confirm("Change the role?"); err != nil || !ok {
		return errors.Join(err, streams.Refuse(command.Found, errors.New("nothing was written")))
	}
	return nil
}

// roleText is what is said of the role, and which variables change.
func roleText(role installing.OtherRole) string {
	var out lines
	out.sayJudgement(role.Judged)
	s := role.Subscription
	for _, edit := range role.Edits() {
		if edit.Becomes == "" {
			out.say("- Subscription %s/%s: %s is removed", s.Namespace, s.Name, edit.Name)
			continue
		}
		out.say("~ Subscription %s/%s: %s becomes %s, and was %s", s.Namespace, s.Name, edit.Name, edit.Becomes, orDash(edit.Was))
	}
	if s.InstalledCSV != "" {
		out.say("OLM restarts the Deployments of %s.", s.InstalledCSV)
	}
	return out.String()
}
