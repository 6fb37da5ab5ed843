package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

const installLong = `Install an operator by OLM v0 with the role that it becomes by short-lived tokens: a namespace, an
OperatorGroup and a Subscription, as OpenShift's console makes them. What is there already stays as it
is. Before anything is written, the role is compared with what the operator asks for: a role that is not
enough is refused. "tabard operators handoff" writes what the owner of the account needs to make it.

The Subscription's approval is Manual, so that no upgrade happens by itself: an upgrade may ask for
permissions that the role does not have. With --wait the InstallPlan of this install is approved if
it installs this operator alone, and the install is followed through its stages to the credentials that the
operator gets. Without it "tabard operators status" shows how far it is, and "tabard operators
approve" approves the plan.

You need the rights to create namespaces, OperatorGroups and Subscriptions, as far as they are
missing; to patch InstallPlans; and to read these, ClusterServiceVersions, Deployments,
CredentialsRequests and the metadata of Secrets.

Exit codes: 0 written, or all of it was there, and with --wait done; 1 refused, failed, or not done after
--timeout; 2 the input cannot be used.`

type installFlags struct {
	demand
	roleFlags
	acceptance
	waitFlags
	installIn, catalog  string
	mode, approval, dry string
	without, force, yes bool
	variables           []string

	install operator.Install
}

func newInstall(streams command.Streams, world World) *cobra.Command {
	f := &installFlags{}
	out := &cobra.Command{
		Use:   "install PACKAGE [-n NAMESPACE] (--role-arn ARN | --azure-… | --gcp-… | --without-role)",
		Short: "Install an operator with its role, and follow it to its credentials",
		Long:  installLong,
		Example: `  tabard operators install my-operator --role-arn arn:aws:iam::123456789012:role/my-operator --wait

  # a version that is not the newest, in a namespace of your choice; only show what would be made
  tabard operators install my-operator -n team-a --version 1.0.0 --role-arn arn:aws:iam::123456789012:role/my-operator --dry-run=files`,
		DisableFlagsInUseLine: true,
		Args:                  onePackage(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world, args[0])
		}),
	}
	f.add(out.Flags())
	return out
}

func (f *installFlags) add(flags *pflag.FlagSet) {
	f.demand.source.add(flags)
	f.demand.versionFlags.add(flags)
	flags.Lookup("namespace").Usage = "the `namespace` to install in, which is made if it is missing (default: the one that the author suggests)"
	flags.Lookup("source").Usage = "the CatalogSource to install from, `NAMESPACE/NAME`: needed with --catalogue in files, or where several have the package"
	flags.StringVar(&f.requests, "requests", "", "the `PATH` of CredentialsRequests that say what the operator asks for: a file, a directory, or - for the standard input")
	f.roleFlags.add(flags)
	flags.BoolVar(&f.without, "without-role", false, "install an operator that takes roles by tokens without one")
	flags.StringVar(&f.mode, "install-mode", "", "which namespaces the operator watches, as a `MODE` that is all or own, or single=NAMESPACE for another one (default: as the OperatorGroup that is there, else own if the operator supports that, else all)")
	flags.StringVar(&f.approval, "approval", "manual", "of upgrades, `manual|automatic`")
	flags.StringArrayVar(&f.variables, "env", nil, "a variable of the operator's containers, as `NAME=VALUE`. May be repeated")
	f.acceptance.add(flags)
	flags.BoolVar(&f.force, "force", false, "go on though the cluster is not in token mode, or the operator does not say that it takes tokens of its cloud")
	flags.StringVar(&f.dry, "dry-run", "none", "`none|client|server|files`: show the plan; have the API server check it, too; or print the objects as YAML. Nothing is written")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before anything is written; without a terminal nothing is asked anyway")
	f.waitFlags.add(flags)
}

func (f *installFlags) check() error {
	if _, _, err := f.values(""); err != nil && !errors.Is(err, errNoRole) {
		return usage.Wrong(err)
	} else if err == nil && f.without {
		return errors.New("--without-role is set, and a role is given: leave one out")
	}
	if err := f.checkPlace(); err != nil {
		return err
	}
	if err := f.acceptance.check(); err != nil {
		return err
	}
	if !slices.Contains([]string{"none", "client", "server", "files"}, f.dry) {
		return fmt.Errorf("--dry-run is %.80q, expected none, client, server or files", f.dry)
	}
	switch f.approval {
	case "manual":
		f.install.Approval = operator.Manual
	case "automatic":
		f.install.Approval = operator.Automatic
	default:
		return fmt.Errorf("--approval is %.80q, expected manual or automatic", f.approval)
	}
	return errors.Join(f.checkRead(), f.waitFlags.check(), f.checkVariables())
}

// checkPlace reads where the operator is installed from, and into.
func (f *installFlags) checkPlace() error {
	f.installIn = f.namespace
	if invalid := validation.IsDNS1123Label(f.installIn); f.installIn != "" && len(invalid) > 0 {
		return fmt.Errorf("--namespace is %.80q, expected the name of a namespace: %s", f.installIn, invalid[0])
	}
	mode, watched, single := strings.Cut(f.mode, "=")
	switch {
	case f.mode == "":
	case f.mode == "all":
		f.install.InstallMode = "AllNamespaces"
	case f.mode == "own":
		f.install.InstallMode = "OwnNamespace"
	case mode == "single" && single && len(validation.IsDNS1123Label(watched)) == 0:
		f.install.InstallMode, f.install.Watched = "SingleNamespace", watched
	default:
		return fmt.Errorf("--install-mode is %.80q, expected all, own or single=NAMESPACE", f.mode)
	}
	// What a file has is installed from a catalogue of the cluster all the same.
	if kind := originOf(f.path).Kind; kind != Cluster {
		f.catalog, f.catalogSource, f.namespace = f.catalogSource, "", ""
		if namespace, _, err := chosenSource(f.catalog); err != nil || namespace == "" {
			return fmt.Errorf("--source is %.80q, and with --catalogue %.80q it has to say from which CatalogSource OLM installs, as NAMESPACE/NAME", f.catalog, f.path)
		}
	}
	return f.source.check(true)
}

func (f *installFlags) checkVariables() error {
	f.install.Variables = map[string]string{}
	for _, one := range f.variables {
		name, value, ok := strings.Cut(one, "=")
		switch {
		case !ok || len(validation.IsEnvVarName(name)) > 0:
			return fmt.Errorf("--env is %.200q, expected NAME=VALUE", one)
		case operator.IsRoleVariable(name):
			return fmt.Errorf("--env is %.200q, and %s is set by the flags that say the role", one, name)
		}
		f.install.Variables[name] = value
	}
	return nil
}

func (f *installFlags) run(ctx context.Context, streams command.Streams, world World, name string) error {
	client, err := world.OLM(&f.kubeconfig)
	if err != nil {
		return err
	}
	facts, err := tokenfacts.Observe(ctx, client.Objects)
	if err != nil {
		return err
	}
	mode := facts.Decide()
	cloud, err := f.chooseRole(streams, facts, mode)
	if err != nil {
		return err
	}
	if cloud != nil {
		f.cloud.value = cloud.String()
	}
	p, bundle, set, err := f.set(ctx, streams, world, name)
	if err != nil {
		return err
	}
	if err := f.supports(streams, mode, cloud, bundle); err != nil {
		return err
	}
	if err := f.locate(p, bundle); err != nil {
		return err
	}
	objects, err := client.Observe(ctx, f.install.Wanted)
	if err != nil {
		return streams.Refuse(command.Found, err)
	}
	if bundle.Metadata != nil && objects.InstallModes == nil {
		objects.InstallModes = bundle.Metadata.InstallModes
	}
	issuer, err := f.issuerOf(ctx, streams, client)
	if err != nil {
		return err
	}
	judged, err := f.judge(ctx, streams, world, operator.Upgrade{
		CSV: bundle.Name, New: set, Namespace: f.install.Namespace, Values: f.install.Values, Issuer: issuer,
	})
	if err != nil {
		return err
	}
	return f.write(ctx, streams, client, objects, judged)
}

// chooseRole takes the role of the flags, of the cluster's partition, and refuses one for a cluster
// that gives no tokens of its cloud. Without a role the cloud is the cluster's, in token mode.
func (f *installFlags) chooseRole(streams command.Streams, facts tokenfacts.Seen, mode tokenfacts.Mode) (*catalogue.Cloud, error) {
	clusters, known := cloudNamed(strings.ToLower(mode.Cloud))
	values, cloud, err := f.values(facts.Partition())
	switch {
	case errors.Is(err, errNoRole) && mode.TokenMode == listing.Yes && known:
		return &clusters, nil
	case errors.Is(err, errNoRole):
		return nil, nil
	case err != nil:
		return nil, usage.Wrong(err)
	case f.force:
	case mode.TokenMode != listing.Yes:
		return nil, streams.Refuse(command.Found, fmt.Errorf("%s, so that the operator would not use its role; --force goes on", mode.Sentence()))
	case !known || clusters != cloud:
		return nil, streams.Refuse(command.Found, fmt.Errorf("the role is of %s, and the cluster is in token mode on %s; --force goes on", strings.ToUpper(cloud.String()), mode.Cloud))
	}
	f.install.Values, f.install.Identity = values, operator.IdentityOf(values)
	return &cloud, nil
}

// supports refuses a role for an operator that does not say that it takes tokens of the cloud, and an
// operator that does without a role, unless that is asked for.
func (f *installFlags) supports(streams command.Streams, mode tokenfacts.Mode, cloud *catalogue.Cloud, b catalogue.Bundle) error {
	if cloud == nil {
		return nil
	}
	supports := b.Features.Tokens[*cloud]
	switch {
	case len(f.install.Values) == 0 && supports == catalogue.Yes && !f.without:
		return usage.Wrong(fmt.Errorf("%s takes a role by tokens, and %s: give it one, such as --role-arn ARN, or type --without-role", catalogue.Quoted(b.Name), mode.Sentence()))
	case len(f.install.Values) == 0:
		f.install.WithoutRole = f.without
		return nil
	case supports == catalogue.Yes || f.force:
		return nil
	}
	var others []string
	for _, other := range listing.Clouds() {
		if b.Features.Tokens[other] == catalogue.Yes {
			others = append(others, strings.ToUpper(other.String()))
		}
	}
	said := "it says so of no cloud"
	switch {
	case len(others) > 0:
		said = "it says so of " + strings.Join(others, ", ")
	case supports == catalogue.Claimed:
		said = "it claims tokens, and does not say of which cloud"
	case b.Metadata == nil:
		said = "the catalogue has no metadata of it"
		if originOf(f.path).Kind == Cluster {
			said += ", since a PackageManifest tells of the newest versions only; --catalogue PATH with --source NAMESPACE/NAME reads all from files"
		}
	}
	return streams.Refuse(command.Found, fmt.Errorf("%s does not say that it takes tokens of %s: %s; --force goes on", catalogue.Quoted(b.Name), strings.ToUpper(cloud.String()), said))
}

// locate fills in what is installed, from where, and in which namespace.
func (f *installFlags) locate(p *catalogue.Package, b catalogue.Bundle) error {
	w := &f.install.Wanted
	w.Subscription, w.Package, w.CSV = p.Name, p.Name, b.Name
	w.SourceNamespace, w.Source = p.Source.Namespace, p.Source.Name
	switch {
	case f.catalog != "":
		w.SourceNamespace, w.Source, _ = chosenSource(f.catalog) // which check has read already
	case p.Source.Kind != catalogue.CatalogSource:
		return usage.Wrong(fmt.Errorf("package %s is of a ClusterCatalog of OLM v1, and this command installs by OLM v0: choose a CatalogSource by --source NAMESPACE/NAME", catalogue.Quoted(p.Name)))
	}
	w.Namespace = f.installIn
	if w.Namespace == "" && b.Metadata != nil {
		w.Namespace = b.Metadata.Annotations[suggestedNamespace]
	}
	if w.Namespace == "" || len(validation.IsDNS1123Label(w.Namespace)) > 0 {
		return usage.Wrong(errors.New("it is not said in which namespace the operator is installed, and its author suggests none: type -n NAMESPACE"))
	}
	var err error
	w.Channel, err = f.channelOf(p, b)
	return err
}

// channelOf is the channel of the Subscription: the one that was asked for, or the one with the
// version.
func (f *installFlags) channelOf(p *catalogue.Package, b catalogue.Bundle) (string, error) {
	var with []string
	for _, c := range p.Channels {
		if slices.ContainsFunc(c.Entries, func(e catalogue.Entry) bool { return e.Name == b.Name }) {
			with = append(with, c.Name)
		}
	}
	switch wanted := f.channel; {
	case wanted != "" && slices.Contains(with, wanted):
		return wanted, nil
	case wanted == "" && slices.Contains(with, p.DefaultChannel):
		return p.DefaultChannel, nil
	case wanted == "" && len(with) == 1:
		return with[0], nil
	}
	return "", usage.Wrong(fmt.Errorf("%s is in the channels %s: choose one by --channel", catalogue.Quoted(b.Name), few(with)))
}
