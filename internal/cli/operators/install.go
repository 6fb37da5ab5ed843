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
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm/installing"
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
	mode, approval, dry string
	yes                 bool
	variables           []string

	choice installing.Choice
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
	flags.BoolVar(&f.choice.WithoutRole, "without-role", false, "install an operator that takes roles by tokens without one")
	flags.StringVar(&f.mode, "install-mode", "", "which namespaces the operator watches, as a `MODE` that is all or own, or single=NAMESPACE for another one (default: as the OperatorGroup that is there, else own if the operator supports that, else all)")
	flags.StringVar(&f.approval, "approval", "manual", "of upgrades, `manual|automatic`")
	flags.StringArrayVar(&f.variables, "env", nil, "a variable of the operator's containers, as `NAME=VALUE`. May be repeated")
	f.acceptance.add(flags)
	flags.BoolVar(&f.choice.Force, "force", false, "go on though the cluster is not in token mode, or the operator does not say that it takes tokens of its cloud")
	flags.StringVar(&f.dry, "dry-run", "none", "`none|client|server|files`: show the plan; have the API server check it, too; or print the objects as YAML. Nothing is written")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before anything is written; without a terminal nothing is asked anyway")
	f.waitFlags.add(flags)
}

func (f *installFlags) check() error {
	if _, err := f.values(""); err != nil && !errors.Is(err, operator.ErrNoRole) {
		return usage.Wrong(err)
	} else if err == nil && f.choice.WithoutRole {
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
		f.choice.Approval = operator.Manual
	case "automatic":
		f.choice.Approval = operator.Automatic
	default:
		return fmt.Errorf("--approval is %.80q, expected manual or automatic", f.approval)
	}
	return errors.Join(f.checkRead(), f.waitFlags.check(), f.checkVariables())
}

// checkPlace reads where the operator is installed from, and into.
func (f *installFlags) checkPlace() error {
	f.choice.Namespace = f.namespace
	if invalid := validation.IsDNS1123Label(f.choice.Namespace); f.choice.Namespace != "" && len(invalid) > 0 {
		return fmt.Errorf("--namespace is %.80q, expected the name of a namespace: %s", f.choice.Namespace, invalid[0])
	}
	mode, watched, single := strings.Cut(f.mode, "=")
	switch {
	case f.mode == "":
	case f.mode == "all":
		f.choice.InstallMode = "AllNamespaces"
	case f.mode == "own":
		f.choice.InstallMode = "OwnNamespace"
	case mode == "single" && single && len(validation.IsDNS1123Label(watched)) == 0:
		f.choice.InstallMode, f.choice.Watched = "SingleNamespace", watched
	default:
		return fmt.Errorf("--install-mode is %.80q, expected all, own or single=NAMESPACE", f.mode)
	}
	// What a file has is installed from a catalogue of the cluster all the same.
	if kind := originOf(f.path).Kind; kind != Cluster {
		from := f.catalogSource
		f.catalogSource, f.namespace = "", ""
		var err error
		if f.choice.SourceNamespace, f.choice.Source, err = chosenSource(from); err != nil || f.choice.SourceNamespace == "" {
			return fmt.Errorf("--source is %.80q, and with --catalogue %.80q it has to say from which CatalogSource OLM installs, as NAMESPACE/NAME", from, f.path)
		}
	}
	return f.source.check(true)
}

func (f *installFlags) checkVariables() error {
	f.choice.Variables = map[string]string{}
	for _, one := range f.variables {
		name, value, ok := strings.Cut(one, "=")
		switch {
		case !ok || len(validation.IsEnvVarName(name)) > 0:
			return fmt.Errorf("--env is %.200q, expected NAME=VALUE", one)
		case operator.IsRoleVariable(name):
			return fmt.Errorf("--env is %.200q, and %s is set by the flags that say the role", one, name)
		}
		f.choice.Variables[name] = value
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
	values, err := f.values(facts.Partition())
	if err != nil && !errors.Is(err, operator.ErrNoRole) {
		return usage.Wrong(err)
	}
	f.choice.Values, f.choice.Channel = values, f.channel
	// It is refused before a catalogue is read, which may take long.
	cloud, err := f.choice.Cloud(mode)
	if err != nil {
		return refused(streams, goOn(err, f.hint))
	}
	if cloud != nil {
		f.cloud.value = cloud.String()
	}
	p, bundle, set, err := f.set(ctx, streams, world, name)
	if err != nil {
		return err
	}
	f.choice.Package, f.choice.Bundle, f.choice.Asks = p, bundle, &set
	planned, err := f.planner(streams, world, client).Plan(ctx, mode, f.choice)
	if err != nil {
		return refused(streams, goOn(err, f.hint))
	}
	return f.write(ctx, streams, client, planned)
}

// hint is how a person goes on after a refusal by the flags of this command.
func (f *installFlags) hint(code installing.Code) hint {
	switch code {
	case installing.RoleMissing:
		return hint{": give it one, such as --role-arn ARN, or type --without-role", true}
	case installing.NotOfCatalogSource:
		return hint{", and this command installs by OLM v0: choose a CatalogSource by --source NAMESPACE/NAME", true}
	case installing.NoNamespace:
		return hint{": type -n NAMESPACE", true}
	case installing.NoChannel:
		return hint{": choose one by --channel", true}
	case installing.NoMetadata:
		if originOf(f.path).Kind == Cluster {
			return hint{", since a PackageManifest tells of the newest versions only; --catalogue PATH with --source NAMESPACE/NAME reads all from files; --force goes on", false}
		}
	}
	return hint{"; --force goes on", false}
}
