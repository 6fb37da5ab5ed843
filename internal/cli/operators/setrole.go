package operators

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/olm"
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
			if _, _, err := f.values(""); err != nil {
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
	all, err := client.List(ctx, namespace)
	if err != nil {
		return streams.Refuse(command.Found, err)
	}
	at := slices.IndexFunc(all, func(s operator.Subscription) bool { return s.Name == name })
	if at < 0 {
		return usage.Wrong(fmt.Errorf("there is no Subscription %s in the namespace %s: tabard operators status -A shows all", catalogue.Quoted(name), namespace))
	}
	s := all[at]
	facts, err := tokenfacts.Observe(ctx, client.Objects)
	if err != nil {
		return err
	}
	values, cloud, err := f.values(facts.Partition())
	if err != nil {
		return usage.Wrong(err)
	}
	issuer, err := f.issuerOf(ctx, streams, client)
	if err != nil {
		return err
	}
	installed, _, err := client.Installed(ctx, namespace, s.InstalledCSV)
	if err != nil {
		return streams.Refuse(command.Found, err)
	}
	set := permission.OfBundle(s.Package, installed, &cloud)
	judged, err := f.judge(ctx, streams, world, operator.Upgrade{CSV: s.InstalledCSV, New: set, Namespace: namespace, Values: values, Issuer: issuer})
	if err != nil {
		return err
	}
	if operator.HasRole(s, values) {
		if err := streams.Print(fmt.Sprintf("the Subscription %s/%s has this role already\n", namespace, command.Plain(name))); err != nil {
			return err
		}
	} else if written, err := f.write(ctx, streams, client, s, values, judged); err != nil || !written {
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
func (f *setRoleFlags) write(ctx context.Context, streams command.Streams, client olm.Client, s operator.Subscription, values map[string]string, judged operator.Judgement) (bool, error) {
	var out lines
	out.sayJudgement(judged)
	had, _ := operator.ValuesOf(s)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if had[name] != values[name] {
			out.say("~ Subscription %s/%s: %s becomes %s, and was %s", s.Namespace, s.Name, name, values[name], orDash(had[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if values[name] == "" && operator.IsRoleVariable(name) {
			out.say("- Subscription %s/%s: %s is removed", s.Namespace, s.Name, name)
		}
	}
	if s.InstalledCSV != "" {
		out.say("OLM restarts the Deployments of %s.", s.InstalledCSV)
	}
	if err := streams.Print(out.String()); err != nil {
		return false, err
	}
	if f.dry {
		return false, streams.Print("this was a dry run: nothing was written\n")
	}
	verdict, err := f.gate(streams, judged.Verdict, judged.Digest, strings.TrimSpace(s.InstalledCSV))
	if err != nil {
		return false, err
	}
	if err := may(ctx, streams, client, olm.SetsValues(s.Namespace)); err != nil {
		return false, err
	}
	if confirm := command.Confirm(streams.In, streams.Err); confirm != nil && !f.yes {
		ok, err := confirm("Change the role?")
		if err != nil || !ok {
			return false, errors.Join(err, streams.Refuse(command.Found, errors.New("nothing was written")))
		}
	}
	if err := client.SetValues(ctx, s, values); err != nil {
		return false, streams.Refuse(command.Found, err)
	}
	if verdict == operator.VerdictOverridden {
		record(ctx, streams, client, olm.About{Kind: operator.KindSubscription, Namespace: s.Namespace, Name: s.Name}, "Warning", "PermissionsOverridden", fmt.Sprintf("got a role of which the verdict was %s: %s", judged.Verdict, judged.Why))
	}
	return true, streams.Print(fmt.Sprintf("the Subscription %s/%s has the role %s\n", s.Namespace, command.Plain(s.Name), command.Plain(operator.IdentityOf(values))))
}
