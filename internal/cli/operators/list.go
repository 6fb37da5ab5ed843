package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

const listLong = `List the packages of a catalogue, each with the version that a new install takes: whether it
takes roles by tokens, and whether it declares what it asks the cloud for.

A filter shows what is known to match. The standard error says how many packages that are, of
how many, and of how many others it is unknown whether they match. Operators that do not stand
alone are left out without --all, and counted.

--token-auth yes asks for operators that support tokens of the cloud, or of any cloud without
--cloud. no asks for those that say otherwise, or nothing. unknown asks for those without
metadata, and those that claim support without naming a cloud. --cloud alone leaves nothing
out: the column TOKENS is then about this cloud.

--permissions known asks for operators that declare what they ask the cloud for, sensitive for
those of which some is sensitive, none for those that declare that they ask for nothing, and
unknown for those that declare nothing that can be read.

Findings in the catalogue are counted and told on the standard error; -o json has all.

Exit codes: 0 done, with or without matches; 1 --cloud this --token-auth asks for the tokens of a
cluster that gives none, or that cannot be read; 2 the input cannot be used.`

type listFlags struct {
	source
	cloud              cloudFlag
	output             command.Output
	tokenAuth          string
	features           []string
	permissions        string
	provider, category string
	search             string
	all, installed     bool
	subscribed         installs
	featureList        []catalogue.Feature
	whyThis            string
	tokens             *catalogue.Cloud
}

func newList(streams command.Streams, world World) *cobra.Command {
	f := &listFlags{}
	out := &cobra.Command{
		Use:   "list",
		Short: "List operators: who takes roles by tokens, and who says what they ask for",
		Long:  listLong,
		Example: `  tabard operators list --catalogue catalog.json --cloud aws --token-auth yes
  tabard operators list --catalogue configs/ --cloud this --token-auth yes

  # operators that ask the cloud for nothing, as their authors declare
  tabard operators list --catalogue catalog.json --permissions none -o name`,
		Args: command.NoArgs(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world)
		}),
	}
	f.add(out.Flags())
	f.output.AddFlags(out, command.Wide, command.Name)
	f.output.AddHeaderFlag(out)
	return out
}

func (f *listFlags) add(flags *pflag.FlagSet) {
	f.source.add(flags)
	f.cloud.add(flags, "the tokens of which cloud are shown and asked for")
	flags.StringVar(&f.tokenAuth, "token-auth", "", "operators with this `SUPPORT` of tokens: yes, no or unknown")
	flags.StringArrayVar(&f.features, "feature", nil, "operators with this `FEATURE`: "+strings.Join(featureNames(), ", ")+"; may be repeated")
	flags.StringVar(&f.provider, "provider", "", "operators of this `PROVIDER`")
	flags.StringVar(&f.category, "category", "", "operators of this `CATEGORY`")
	flags.StringVar(&f.permissions, "permissions", "", "operators of which what they ask the cloud for `IS` known, unknown, sensitive or none")
	flags.StringVar(&f.search, "search", "", "operators with all of these `WORDS` in name, provider or short description")
	flags.BoolVar(&f.installed, "installed", false, "operators of the cluster's catalogues that have a Subscription; with --namespace one in it")
	flags.BoolVar(&f.all, "all", false, "also operators that do not stand alone")
}

func featureNames() []string {
	var out []string
	for f := catalogue.Disconnected; f <= catalogue.SingleNode; f++ {
		out = append(out, f.String())
	}
	return out
}

// check refuses values that no flag has.
func (f *listFlags) check() error {
	if err := f.output.Check(); err != nil {
		return err
	}
	if err := f.cloud.check(); err != nil {
		return err
	}
	if err := f.source.check(f.cloud.isClusters()); err != nil {
		return err
	}
	if f.installed && originOf(f.path).Kind != Cluster {
		return fmt.Errorf("--installed asks the cluster, and --catalogue is %.80q: leave one out", f.path)
	}
	if !slices.Contains([]string{"", "yes", "no", "unknown"}, f.tokenAuth) {
		return fmt.Errorf("--token-auth is %.80q, expected yes, no or unknown", f.tokenAuth)
	}
	if !slices.Contains([]string{"", "known", "unknown", "sensitive", "none"}, f.permissions) {
		return fmt.Errorf("--permissions is %.80q, expected known, unknown, sensitive or none", f.permissions)
	}
	for _, name := range f.features {
		feature, ok := catalogue.FeatureNamed(name)
		if !ok {
			return fmt.Errorf("--feature is %.80q, expected one of %s", name, strings.Join(featureNames(), ", "))
		}
		f.featureList = append(f.featureList, feature)
	}
	return nil
}

func (f *listFlags) run(ctx context.Context, streams command.Streams, world World) error {
	var err error
	if f.tokens, f.whyThis, err = f.cloud.chosen(ctx, world, &f.kubeconfig); err != nil {
		return err
	}
	if f.whyThis != "" {
		if f.tokenAuth != "" {
			return streams.Refuse(command.Found, fmt.Errorf("--cloud this --token-auth %s names no operator: %s; --cloud aws, azure or gcp asks for operators of a cloud", f.tokenAuth, f.whyThis))
		}
		sayOn(streams.Err, "tabard: --cloud this highlights nothing: %s", f.whyThis)
	}
	read, err := f.read(ctx, streams, world, "")
	if err != nil {
		return err
	}
	if f.subscribed, err = f.installs(ctx, streams, world); err != nil {
		return err
	}
	listing := f.list(read)
	printed := command.Printed{
		Document: escaped{listing},
		Header:   []string{"NAME", "PACKAGE", "CHANNEL", "VERSION", f.tokensHeader(), "PERMISSIONS", "STATE", "PROVIDER", "FEATURES", "CATALOGUE"}, Wide: 3,
		None: "No operator of the catalogue is known to match.\n",
	}
	for _, r := range listing.Items {
		printed.Rows, printed.Names = append(printed.Rows, r.cells(f.tokens)), append(printed.Names, "package/"+r.Package)
	}
	if f.installed {
		printed.Header = slices.Insert(printed.Header, 7, "INSTALLED")
		for i, r := range listing.Items {
			printed.Rows[i] = slices.Insert(printed.Rows[i], 7, installedText(r.Installed))
		}
	}
	if err := streams.PrintAs(f.output, printed); err != nil {
		return err
	}
	if !isData(f.output) {
		sayOn(streams.Err, "%s", listing.footer())
		tell(streams, read.Findings, "; -o json has all")
	}
	return nil
}

func (f *listFlags) tokensHeader() string {
	if f.tokens == nil {
		return "TOKENS"
	}
	return "TOKENS(" + f.tokens.String() + ")"
}

// listing is what a list prints.
type listing struct {
	command.Meta `json:",inline"`
	// Cloud is the one that --cloud chose, which of this is the cluster's.
	Cloud string `json:"cloud,omitempty"`
	Items []row  `json:"items"`
	// Total counts the packages of the catalogue, and Unknown those of which it is not known
	// whether they match.
	Total   int `json:"total"`
	Unknown int `json:"unknown"`
	// NotStandalone counts those that would match, and are left out because they do not stand
	// alone.
	NotStandalone int       `json:"notStandalone"`
	Findings      []finding `json:"findings"`
}

func (l listing) footer() string {
	text := fmt.Sprintf("%d of %s", len(l.Items), count(l.Total, "package", "packages"))
	if l.Unknown > 0 {
		text += fmt.Sprintf("; %d unknown: their metadata does not tell whether they match", l.Unknown)
	}
	if l.NotStandalone > 0 {
		text += fmt.Sprintf("; %d not shown because they do not stand alone: --all shows them", l.NotStandalone)
	}
	return text
}

// list asks each package by itself, because what these commands ask is more than the model does:
// a package that does not match by one filter is not unknown by another.
func (f *listFlags) list(c *catalogue.Catalogue) listing {
	out := listing{Meta: command.MetaOf("OperatorsList"), Items: []row{}, Total: len(c.Packages), Findings: findingsOf(c.Findings)}
	if f.tokens != nil {
		out.Cloud = f.tokens.String()
	}
	filter := catalogue.Filter{Features: f.featureList, Provider: f.provider, Category: f.category, Search: f.search, All: true}
	for i := range c.Packages {
		one := catalogue.Catalogue{Packages: c.Packages[i : i+1]}
		listed := one.List(filter)
		if len(listed.Rows)+listed.Unknown == 0 {
			continue
		}
		// A filter that asks nothing lists every package.
		found := one.List(catalogue.Filter{All: true}).Rows[0]
		tokens := f.matchesTokens(found)
		if tokens == no {
			continue
		}
		r := f.row(found)
		if r.Installed = f.subscribed.of(found.Package); f.installed && len(r.Installed) == 0 {
			continue
		}
		matches := worst(tokens, f.matchesPermissions(r))
		if listed.Unknown > 0 {
			matches = worst(matches, unknown)
		}
		alone := f.all || len(one.List(catalogue.Filter{}).Rows) > 0
		switch {
		case matches == no:
		case !alone:
			out.NotStandalone++
		case matches == unknown:
			out.Unknown++
		default:
			out.Items = append(out.Items, r)
		}
	}
	return out
}

// worst is no if one is, else unknown if one is.
func worst(all ...answer) answer {
	switch {
	case slices.Contains(all, no):
		return no
	case slices.Contains(all, unknown):
		return unknown
	}
	return yes
}

// matchesTokens answers --token-auth, for the cloud that was chosen or for any.
func (f *listFlags) matchesTokens(r catalogue.Row) answer {
	if f.tokenAuth == "" {
		return yes
	}
	supports := no
	asked := clouds
	if f.tokens != nil {
		asked = []catalogue.Cloud{*f.tokens}
	}
	for _, c := range asked {
		switch one := supportOf(r.Bundle, c); {
		case one == catalogue.Yes:
			supports = yes
		case (one == catalogue.Unknown || one == catalogue.Claimed) && supports == no:
			supports = unknown
		}
	}
	switch {
	case string(supports) == f.tokenAuth:
		return yes
	case supports == unknown:
		return unknown
	}
	return no
}

// matchesPermissions answers --permissions.
func (f *listFlags) matchesPermissions(r row) answer {
	p := r.Permissions
	is := func(holds bool) answer {
		if holds {
			return yes
		}
		return no
	}
	switch {
	case f.permissions == "":
		return yes
	case f.permissions == "known":
		return is(p.State != stateUnknown)
	case f.permissions == "unknown":
		return is(p.State == stateUnknown)
	case p.State == stateUnknown:
		return unknown
	case f.permissions == "none":
		return is(p.Count == 0 && p.nothing)
	case p.Sensitive == 0 && p.Incomplete:
		return unknown
	}
	return is(p.Sensitive > 0)
}
