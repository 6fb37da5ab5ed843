package migrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

// planFlags are those of the sub-command plan.
type planFlags struct {
	out             string
	wildcard        bool
	labels          bool
	blockerAccounts []string
}

// verifyCommand compares again.
const verifyCommand = "tabard migrate carm verify"

// planned is all that plan has to say.
type planned struct {
	described   []description
	controllers []carm.Controller
	cluster     carm.Cluster
	migration   carm.Migration
	semantics   carm.Semantics
	proof       proof
	// verify is how the sub-command verify is called for the same controllers.
	verify string
}

func newPlan(streams command.Streams, connect Connect, in *inputs) *cobra.Command {
	flags := &planFlags{}
	command := &cobra.Command{
		Use:   "plan",
		Short: "Write the selectors, the proof, and the plan for rolling out and back",
		Long: `Writes the selectors to standard output, and its findings to standard error. With --out
it writes all of this to a folder: the selectors, labels for the namespaces
(--labels), the proof (proof.jsonl), what was found (findings.json), the controllers
as they are now (controllers.yaml), the Helm values of each (values, rollback) and
the plan (plan.md).

Exit code 0: the selectors do the same. 1: differences, or the cluster
cannot be read. 2: selectors cannot express something, or the input cannot be used.`,
		Example: `  tabard migrate carm plan --out migration
  tabard migrate carm plan -f bundle --controllers-file controllers.yaml -o json`,
		Args: command.NoArgs(streams),
		RunE: command.Spoken(streams, func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), streams, connect, in)
		}),
	}
	f := command.Flags()
	f.StringVar(&flags.out, "out", "", "write all files into this `folder`, which must be new, empty, or hold what the same run wrote")
	f.BoolVar(&flags.wildcard, "wildcard-types", false, "leave the groups out where all ACK controllers of the cluster get the same role")
	f.BoolVar(&flags.labels, "labels", false, "select namespaces by labels copied from their annotations, so that namespaces to come are selected, too")
	f.StringArrayVar(&flags.blockerAccounts, "blocker-account", nil, "the account that a key without an entry stands for, as `KEY=ACCOUNT`; repeatable")
	return command
}

func (flags *planFlags) run(ctx context.Context, streams command.Streams, connect Connect, in *inputs) error {
	semantics, deny, err := in.readers()
	if err != nil {
		return err
	}
	accounts, err := pairs("blocker-account", flags.blockerAccounts)
	if err != nil {
		return err
	}
	if at, err := os.Stat(flags.out); err == nil && !at.IsDir() {
		return outFolder(flags.out).Refuse(errors.New("it is a file, not a folder"))
	}
	b, described, err := in.read(ctx, streams, connect)
	if err != nil {
		return err
	}
	p := &planned{described: described, controllers: b.controllersOf(described), cluster: b.Cluster, semantics: semantics, verify: verifyCommand}
	if deny {
		p.verify += " --controllers tabard"
	}
	p.migration, err = carm.Migrate(b.Cluster, p.controllers, carm.Options{
		Semantics: semantics, Deny: deny, WildcardTypes: flags.wildcard, LabelMode: flags.labels, BlockerAccounts: accounts,
	})
	if err != nil {
		return err
	}
	if !p.migration.Refused() {
		if err := p.prove(); err != nil {
			return err
		}
	}
	if err := p.write(streams, flags.out, in.output); err != nil {
		return err
	}
	return p.exit()
}

// prove compares both sides as they will be when all has been applied.
func (p *planned) prove() error {
	after := p.cluster
	after.Namespaces = slices.Clone(after.Namespaces)
	for i := range after.Namespaces {
		n := &after.Namespaces[i]
		n.Labels = joined(n.Labels, p.migration.NamespaceLabels[n.Name])
	}
	lines, err := carm.Prove(after, p.controllers, carm.Merge(p.cluster.Selectors, p.migration.Selectors), carm.ProofOptions{Semantics: p.semantics})
	if err != nil {
		return err
	}
	p.proof.read(lines)
	return nil
}

func joined(a, b map[string]string) map[string]string {
	all := map[string]string{}
	for _, from := range []map[string]string{a, b} {
		for key, value := range from {
			all[key] = value
		}
	}
	return all
}

// equal says whether the selectors may be applied.
func (p *planned) equal() bool { return !p.migration.Refused() && p.proof.failed() == 0 }

func (p *planned) exit() error {
	switch {
	case p.migration.Refused():
		return &command.Exit{Code: command.Unusable, What: "selectors cannot express all of it"}
	case p.proof.failed() > 0:
		return &command.Exit{Code: command.Found, What: fmt.Sprintf("differences: %d", p.proof.failed())}
	default:
		return nil
	}
}

func newVerify(streams command.Streams, connect Connect, in *inputs) *cobra.Command {
	var live bool
	command := &cobra.Command{
		Use:   "verify",
		Short: "Compare CARM with the selectors that the cluster has",
		Long: `Compares what CARM gives with what the selectors of the cluster give, for every
namespace, kind and resource; and with what the status of each resource says of the
selector used last, which is for after the change-over (--live=false before it). Keep
config maps and annotations until it finds nothing. After the change-over, describe
the controllers as they were: --controllers-file names the file that plan wrote.

With -o json each comparison is one line of JSON. Exit code 0: equal. 1: differences,
or resources that have not recorded a selector yet, or the cluster cannot be read. 2: the
input cannot be used.`,
		Example: `  tabard migrate carm verify --controllers-file migration/controllers.yaml --live=false
  tabard migrate carm verify --controllers-file migration/controllers.yaml -o json | jq -c 'select(.verdict != "equal")'`,
		Args: command.NoArgs(streams),
		RunE: command.Spoken(streams, func(command *cobra.Command, _ []string) error {
			return verify(command.Context(), streams, connect, in, live)
		}),
	}
	command.Flags().BoolVar(&live, "live", true, "compare the status of resources, too")
	return command
}

func verify(ctx context.Context, streams command.Streams, connect Connect, in *inputs, live bool) error {
	semantics, _, err := in.readers()
	if err != nil {
		return err
	}
	b, described, err := in.read(ctx, streams, connect)
	if err != nil {
		return err
	}
	lines, err := carm.Prove(b.Cluster, b.controllersOf(described), b.Selectors, carm.ProofOptions{Semantics: semantics, Live: live})
	if err != nil {
		return err
	}
	var p proof
	p.read(lines)
	if in.output == "json" {
		err = p.writeLines(streams.Out)
	} else {
		err = streams.Print(p.text())
	}
	if err != nil {
		return err
	}
	if failed := p.failed(); failed > 0 {
		return &command.Exit{Code: command.Found, What: fmt.Sprintf("differences: %d", failed)}
	}
	return nil
}

// listed are at most ten of many names.
func listed(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], "; ") + fmt.Sprintf("; and %d more", len(names)-most)
	}
	return strings.Join(names, "; ")
}
