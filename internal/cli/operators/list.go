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
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
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
	cloud     cloudFlag
	output    command.Output
	filter    listing.Filter
	features  []string
	installed bool
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
	flags.StringVar(&f.filter.TokenAuth, "token-auth", "", "operators with this `SUPPORT` of tokens: yes, no or unknown")
	flags.StringArrayVar(&f.features, "feature", nil, "operators with this `FEATURE`: "+strings.Join(listing.FeatureNames(), ", ")+"; may be repeated")
	flags.StringVar(&f.filter.Provider, "provider", "", "operators of this `PROVIDER`")
	flags.StringVar(&f.filter.Category, "category", "", "operators of this `CATEGORY`")
	flags.StringVar(&f.filter.Permissions, "permissions", "", "operators of which what they ask the cloud for `IS` known, unknown, sensitive or none")
	flags.StringVar(&f.filter.Search, "search", "", "operators with all of these `WORDS` in name, provider or short description")
	flags.BoolVar(&f.installed, "installed", false, "operators of the cluster's catalogues that have a Subscription; with --namespace one in it")
	flags.BoolVar(&f.filter.All, "all", false, "also operators that do not stand alone")
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
	if f.filter.TokenAuth != "" && !slices.Contains(listing.TokenAuths(), f.filter.TokenAuth) {
		return fmt.Errorf("--token-auth is %.80q, expected yes, no or unknown", f.filter.TokenAuth)
	}
	if f.filter.Permissions != "" && !slices.Contains(listing.PermissionStates(), f.filter.Permissions) {
		return fmt.Errorf("--permissions is %.80q, expected known, unknown, sensitive or none", f.filter.Permissions)
	}
	for _, name := range f.features {
		feature, ok := catalogue.FeatureNamed(name)
		if !ok {
			return fmt.Errorf("--feature is %.80q, expected one of %s", name, strings.Join(listing.FeatureNames(), ", "))
		}
		f.filter.Features = append(f.filter.Features, feature)
	}
	return nil
}

func (f *listFlags) run(ctx context.Context, streams command.Streams, world World) error {
	tokens, why, err := f.cloud.chosen(ctx, world, &f.kubeconfig)
	if err != nil {
		return err
	}
	f.filter.Tokens = tokens
	if why != "" {
		if f.filter.TokenAuth != "" {
			return streams.Refuse(command.Found, fmt.Errorf("--cloud this --token-auth %s names no operator: %s; --cloud aws, azure or gcp asks for operators of a cloud", f.filter.TokenAuth, why))
		}
		sayOn(streams.Err, "tabard: --cloud this highlights nothing: %s", why)
	}
	read, err := f.read(ctx, streams, world, "")
	if err != nil {
		return err
	}
	if f.installed {
		subscribed, err := f.installs(ctx, streams, world)
		if err != nil {
			return err
		}
		f.filter.Installed = subscribed.of
	}
	listed := f.document(read)
	printed := command.Printed{
		Document: escaped{listed},
		Header:   []string{"NAME", "PACKAGE", "CHANNEL", "VERSION", f.tokensHeader(), "PERMISSIONS", "STATE", "PROVIDER", "FEATURES", "CATALOGUE"}, Wide: 3,
		None: "No operator of the catalogue is known to match.\n",
	}
	for _, r := range listed.Items {
		printed.Rows, printed.Names = append(printed.Rows, cells(r, f.filter.Tokens)), append(printed.Names, "package/"+r.Package)
	}
	if f.installed {
		printed.Header = slices.Insert(printed.Header, 7, "INSTALLED")
		for i, r := range listed.Items {
			printed.Rows[i] = slices.Insert(printed.Rows[i], 7, installedText(r.Installed))
		}
	}
	if err := streams.PrintAs(f.output, printed); err != nil {
		return err
	}
	if !isData(f.output) {
		sayOn(streams.Err, "%s", listed.footer())
		tell(streams, read.Findings, "; -o json has all")
	}
	return nil
}

func (f *listFlags) tokensHeader() string {
	if f.filter.Tokens == nil {
		return "TOKENS"
	}
	return "TOKENS(" + f.filter.Tokens.String() + ")"
}

// listDocument is what a list prints.
type listDocument struct {
	command.Meta `json:",inline"`
	// Cloud is the one that --cloud chose, which of this is the cluster's.
	Cloud           string `json:"cloud,omitempty"`
	listing.Listing `json:",inline"`
	Findings        []listing.CatalogueFinding `json:"findings"`
}

func (l listDocument) footer() string {
	text := fmt.Sprintf("%d of %s", len(l.Items), line.Count(l.Total, "package", "packages"))
	if l.Unknown > 0 {
		text += fmt.Sprintf("; %d unknown: their metadata does not tell whether they match", l.Unknown)
	}
	if l.NotStandalone > 0 {
		text += fmt.Sprintf("; %d not shown because they do not stand alone: --all shows them", l.NotStandalone)
	}
	return text
}

// document is the listing of a catalogue.
func (f *listFlags) document(c *catalogue.Catalogue) listDocument {
	out := listDocument{Meta: command.MetaOf("OperatorsList"), Listing: listing.List(c, f.filter, f.placeOf), Findings: listing.FindingsOf(c.Findings)}
	if f.filter.Tokens != nil {
		out.Cloud = f.filter.Tokens.String()
	}
	return out
}
