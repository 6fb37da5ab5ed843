package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

const diffLong = `Show what one version of an operator asks the cloud for that another does not, and the reverse.
Changes are in this order: what is sensitive, then what is added, widened, changed, narrowed and
removed. Then come changes of who becomes the role, for which the role's trust policy must
change, changes of the workload, and whether the operator takes tokens of the cloud.

Where nothing is known of one version, all that the other asks for is listed as unknown. Without
--cloud, the support of tokens is compared if all requests are to one cloud.

Without --from and --to the name is that of a Subscription whose InstallPlan waits for an approval. Then each
operator that the plan installs is compared with the installed one, and its role with what it asks for. The
two are read from the cluster, as OLM has them.

Exit codes: 0 both ask for the same; 1 something changes, or it is unknown whether something does;
2 the input cannot be used.`

type diffFlags struct {
	source
	roleFlags
	cloud    cloudFlag
	output   command.Output
	from, to string
}

func newDiff(streams command.Streams, world World) *cobra.Command {
	f := &diffFlags{}
	out := &cobra.Command{
		Use:   "upgrade-diff (PACKAGE --from VERSION --to VERSION | SUBSCRIPTION)",
		Short: "Show what changes in an operator's permissions with an upgrade",
		Long:  diffLong,
		Example: `  tabard operators upgrade-diff my-operator --catalogue catalog.json --from 1.0.0 --to 1.1.0
  tabard operators upgrade-diff my-operator --catalogue catalog.json --from 1.0.0 --to 1.1.0 -o json

  # what the upgrade that waits would ask for
  tabard operators upgrade-diff my-operator -n my-operator`,
		DisableFlagsInUseLine: true,
		Args:                  onePackage(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.isOfSubscription() {
				return f.ofSubscription(c.Context(), streams, world, args[0])
			}
			return f.run(c.Context(), streams, world, args[0])
		}),
	}
	flags := out.Flags()
	f.source.add(flags)
	f.addRead(flags)
	for _, name := range []string{"role-documents", "issuer"} {
		flags.Lookup(name).Usage = "of a Subscription: " + flags.Lookup(name).Usage
	}
	f.cloud.add(flags, "requests to one cloud only, and the support of its tokens")
	flags.StringVar(&f.from, "from", "", "the installed `VERSION`, or the name of its ClusterServiceVersion")
	flags.StringVar(&f.to, "to", "", "the next `VERSION`, or the name of its ClusterServiceVersion")
	f.output.AddFlags(out)
	f.output.AddHeaderFlag(out)
	return out
}

// isOfSubscription says that the name is a Subscription's: no flag says versions, or a catalogue.
func (f *diffFlags) isOfSubscription() bool {
	return f.from+f.to+f.path+f.catalogSource+f.authority+f.cloud.value == ""
}

func (f *diffFlags) check() error {
	if f.isOfSubscription() {
		return errors.Join(f.checkRead(), f.output.Check())
	}
	if f.documents+f.issuer != "" {
		return errors.New("--role-documents and --issuer are of the role of a Subscription, and the versions are of a catalogue: leave them out")
	}
	if f.from == "" || f.to == "" {
		return errors.New("--from and --to are the two versions that are compared, and one is not set: type both")
	}
	if err := f.output.Check(); err != nil {
		return err
	}
	if err := f.cloud.check(); err != nil {
		return err
	}
	return f.source.check(f.cloud.isClusters())
}

func (f *diffFlags) run(ctx context.Context, streams command.Streams, world World, name string) error {
	cloud, err := f.cloud.named(ctx, streams, world, &f.kubeconfig)
	if err != nil {
		return err
	}
	read, err := f.read(ctx, streams, world, name)
	if err != nil {
		return err
	}
	p, err := f.find(read, name)
	if err != nil {
		return err
	}
	old, err := bundleOf(p, "--from", f.from)
	if err != nil {
		return err
	}
	next, err := bundleOf(p, "--to", f.to)
	if err != nil {
		return err
	}
	f.tellUnread(streams, read, p, old, next)
	if cloud == nil {
		cloud = permission.OneCloud(permission.OfBundle(p.Name, old, nil), permission.OfBundle(p.Name, next, nil))
	}
	from, to := permission.OfBundle(p.Name, old, cloud), permission.OfBundle(p.Name, next, cloud)
	d := permission.Diff(from, to)
	d.Findings = slices.Concat(d.Findings, placed(from), placed(to), unreachable(p, old, next))
	return f.print(streams, d, []string{listing.WhyUnknown(from, old), listing.WhyUnknown(to, next)})
}

// ofSubscription shows what the plan that waits for a Subscription changes.
func (f *diffFlags) ofSubscription(ctx context.Context, streams command.Streams, world World, name string) error {
	client, namespace, err := connected(world, &f.kubeconfig, f.namespace)
	if err != nil {
		return err
	}
	plan, err := f.judgePlan(ctx, streams, world, client, namespace, name)
	if err != nil {
		return err
	}
	printed := command.Printed{Document: escaped{command.ListOf("PlanCheck", plan.Judged)}}
	if f.output.IsForPeople() {
		printed.Text = func() string { return planText(plan) }
	}
	if err := streams.PrintAs(f.output, printed); err != nil {
		return err
	}
	switch verdict, _ := operator.Sum(plan.Judged); verdict {
	case operator.VerdictNoChange, operator.VerdictNotToken:
		return nil
	default:
		return &command.Exit{Code: command.Found, What: "the plan changes what is asked for: " + string(verdict)}
	}
}

// unreachable says that OLM will not upgrade one version to the other.
func unreachable(p *catalogue.Package, old, next catalogue.Bundle) []permission.Finding {
	if channels, known := p.Leads(old.Name, next.Name); old.Name == next.Name || !known || len(channels) > 0 {
		return nil
	}
	return []permission.Finding{{Code: permission.CodeNoUpgrade, Message: fmt.Sprintf("no channel leads from %s to %s, so OLM does not upgrade one to the other",
		catalogue.Quoted(old.Name), catalogue.Quoted(next.Name))}}
}

// placed are the findings of one side, with its name before their paths.
func placed(s permission.Set) []permission.Finding {
	out := slices.Clone(s.Findings)
	for i := range out {
		out[i].Path = strings.TrimSpace(s.CSV + " " + out[i].Path)
	}
	return out
}

// print prints a difference; whys say why nothing is known of a side.
func (f *diffFlags) print(streams command.Streams, d permission.Difference, whys []string) error {
	if !isData(f.output) {
		tellSet(streams, d.Findings)
	}
	printed := command.Printed{Document: escaped{d}}
	if f.output.IsForPeople() {
		printed.Text = func() string { return f.text(d, whys) }
	}
	if err := streams.PrintAs(f.output, printed); err != nil {
		return err
	}
	if d.Verdict != permission.VerdictSame {
		return &command.Exit{Code: command.Found, What: verdictText(d)}
	}
	return nil
}

// text is a difference for people: the two sides, the changes, and what they come to.
func (f *diffFlags) text(d permission.Difference, whys []string) string {
	var out lines
	for i, side := range []permission.Side{d.From, d.To} {
		label := []string{"From:", "To:"}[i]
		said := side.Source.String()
		switch {
		case !side.Known:
			said = "unknown: " + whys[i]
		case side.Incomplete:
			said += ", in part: the findings say what could not be read"
		}
		out.say("%-5s  %s (%s), %s", label, orDash(side.Version), side.CSV, said)
	}
	rows := [][]string{{"CLASS", "CHANGE", "SENSITIVE"}}
	if f.output.NoHeaders {
		rows = nil
	}
	for _, c := range d.Changes {
		rows = append(rows, []string{string(c.Class), strings.TrimPrefix(c.Text, string(c.Class)+": "), marks(c.Marks)})
	}
	if len(d.Changes) > 0 {
		out.WriteString("\n" + command.Table(rows) + "\n")
	}
	if d.TrustMustChange {
		out.say("The role's trust must change, besides its permissions.")
	}
	out.say("%s", verdictText(d))
	return out.String()
}

func verdictText(d permission.Difference) string {
	switch {
	case d.Verdict == permission.VerdictSame:
		return "Both versions ask for the same."
	case d.Verdict == permission.VerdictChanged:
		text := line.Count(len(d.Changes), "change.", "changes.")
		if d.From.Incomplete || d.To.Incomplete {
			text += " There may be more: a part of what is declared could not be read."
		}
		return text
	case !d.From.Known && !d.To.Known:
		return "It is unknown what changes: nothing is known of what either version asks the cloud for."
	case !d.From.Known:
		return "It is unknown what changes: nothing is known of what " + sideName(d.From) + " asks the cloud for. All that " + sideName(d.To) + " asks for is listed."
	case !d.To.Known:
		return "It is unknown what changes: nothing is known of what " + sideName(d.To) + " asks the cloud for. All that " + sideName(d.From) + " asks for is listed."
	}
	return "It is unknown whether something changes: a part of what is declared could not be read."
}

func sideName(s permission.Side) string {
	if s.Version == "" {
		return catalogue.Quoted(s.CSV)
	}
	return s.Version
}
