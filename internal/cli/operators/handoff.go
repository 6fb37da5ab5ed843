package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/handoff/operator"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

const handoffLong = `Write a directory for the colleague who owns the cloud account, from which they make the role that an
operator asks for. It has a page that tells who asks for what, the request as a document, the two
policies, and the role as a script for the AWS command line, as Terraform and as a CloudFormation
template. The colleague needs no access to the cluster, and sends back the role's ARN. "tabard
operators check" then says whether that role is enough.

What is asked for is read as "tabard operators permissions" reads it. The issuer and the cluster's
name are the cluster's, or what --issuer and --cluster-name say: with both of them and a catalogue
in files no cluster is asked. Without --account there is no script, and the trust policy is a
template. For Azure and Google Cloud there are a script and Terraform if the flags --azure-… or --gcp-…
say where the identity is to be made. Tabard does not simulate these clouds, so that neither was tried.

The same input gives the same bytes. Nothing in the directory is secret. A directory that holds
something else is refused.

Exit codes: 0 written; 1 it is unknown what the operator asks for, or the cluster cannot be read;
2 the input cannot be used.`

type handoffFlags struct {
	demand
	dir, installIn string
	place          rolerequest.Place
	role           rolerequest.Role
	tags           []string
	azure          handoff.AzurePlace
	google         handoff.GooglePlace
}

func newHandoff(streams command.Streams, world World) *cobra.Command {
	f := &handoffFlags{}
	out := &cobra.Command{
		Use:   "handoff PACKAGE --output-dir DIR",
		Short: "Write what the owner of a cloud account needs to make an operator's role",
		Long:  handoffLong,
		Example: `  tabard operators handoff my-operator --catalogue catalog.json -n my-operator --cluster-name prod --account 123456789012 --output-dir out

  # without a cluster
  tabard operators handoff my-operator --catalogue catalog.json -n my-operator --cluster-name prod --issuer https://issuer.example.com --output-dir for-them`,
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

func (f *handoffFlags) add(flags *pflag.FlagSet) {
	f.demand.add(flags)
	flags.Lookup("namespace").Usage = "the `namespace` that the operator is installed in (default: the one that its author suggests)"
	flags.StringVar(&f.dir, "output-dir", "", "the `directory` to write, new or empty")
	flags.StringVar(&f.place.Cluster, "cluster-name", "", "the cluster's `name`, for the role's name and tag (default: its infrastructure name)")
	flags.StringVar(&f.place.Issuer, "issuer", "", "the `URL` of the issuer of the cluster's tokens (default: the cluster's)")
	flags.StringVar(&f.place.Account, "account", "", "the AWS account of the role, twelve `digits`")
	flags.StringVar(&f.place.Partition, "partition", "", "the AWS `partition`: aws, aws-cn or aws-us-gov (default: that of the cluster's region, or aws)")
	flags.StringVar(&f.role.Name, "role-name", "", "the role's `name` (default: made of the names of the cluster, the namespace and the package)")
	flags.StringVar(&f.role.Prefix, "name-prefix", "", "a `prefix` of the default name")
	flags.StringVar(&f.role.Path, "path", "", "the role's `path`, such as /operators/ (default: /)")
	flags.StringVar(&f.role.Boundary, "permissions-boundary", "", "the `ARN` of the role's permissions boundary")
	flags.StringVar(&f.azure.Subscription, "azure-subscription-id", "", "the `id` of the Azure subscription in which the identity is made")
	flags.StringVar(&f.azure.Tenant, "azure-tenant-id", "", "the `id` of its tenant (default: the one that the subscription is in)")
	flags.StringVar(&f.azure.ResourceGroup, "azure-resource-group", "", "the `name` of the resource group of the identity, where its roles hold")
	flags.StringVar(&f.azure.Region, "azure-region", "", "the Azure `region` of the identity, such as westeurope")
	flags.StringVar(&f.google.Project, "gcp-project-id", "", "the `id` of the Google Cloud project in which the service account is made")
	flags.StringVar(&f.google.Number, "gcp-project-number", "", "its `number`")
	flags.StringVar(&f.google.Pool, "gcp-pool-id", "", "the `id` of the workload identity pool of the cluster")
	flags.StringVar(&f.google.Provider, "gcp-provider-id", "", "the `id` of the provider in that pool")
	flags.StringArrayVar(&f.tags, "tag", nil, "a tag of the role, as `KEY=VALUE`. May be repeated")
}

func (f *handoffFlags) check() error {
	if f.dir == "" {
		return errors.New("--output-dir is not set: it is where the files are written")
	}
	if f.role.Name != "" && f.role.Prefix != "" {
		return errors.New("--role-name and --name-prefix each say the role's name: leave one out")
	}
	var err error
	if f.role.Tags, err = iamname.ParseTags(f.tags); err != nil {
		return fmt.Errorf("--tag: %w", err)
	}
	// With files -n chooses no catalogue.
	if f.installIn = f.namespace; originOf(f.path).Kind != Cluster || f.requests != "" && f.path+f.catalogSource == "" {
		f.namespace = ""
	}
	return f.demand.checkFor(f.asksCluster())
}

// asksCluster says that the cluster has to tell what no flag does.
func (f *handoffFlags) asksCluster() bool { return f.place.Issuer == "" || f.place.Cluster == "" }

func (f *handoffFlags) run(ctx context.Context, streams command.Streams, world World, name string) error {
	_, bundle, set, err := f.demand.set(ctx, streams, world, name)
	if err != nil {
		return err
	}
	tellSet(streams, set.Findings)
	if _, known := set.Requests(); !known {
		return streams.Refuse(command.Found, fmt.Errorf("it is unknown what the operator asks the cloud for: %s. With its CredentialsRequests, type --requests PATH", cmp.Or(listing.WhyUnknown(set, bundle), "nothing declares it")))
	}
	if err := f.locate(ctx, world, bundle); err != nil {
		return err
	}
	request, err := rolerequest.New(set, f.place, f.role)
	if err != nil {
		return usage.Wrong(err)
	}
	files, err := operator.Files(request, f.where())
	if err != nil {
		return usage.Wrong(err)
	}
	contents := map[string][]byte{}
	for _, file := range files {
		contents[file.Name] = []byte(file.Text)
	}
	folder := command.File{By: "--output-dir", Path: f.dir, Expected: "a directory that is new or empty, or has just what this run writes"}
	if err := folder.WriteFolder(contents); err != nil {
		return err
	}
	return streams.Print(f.next(request))
}

// where is what the flags say of clouds beside AWS. A flag that is missing is refused when the script
// is written.
func (f *handoffFlags) where() (out operator.Where) {
	if f.azure != (handoff.AzurePlace{}) {
		out.Azure = &f.azure
	}
	if f.google != (handoff.GooglePlace{}) {
		out.Google = &f.google
	}
	return out
}

// next says what to do with the files.
func (f *handoffFlags) next(r rolerequest.Request) string {
	var out lines
	who := "whoever owns the cloud account"
	if r.Account != "" {
		who = "the owner of account " + r.Account
	}
	out.say("The hand-off is in %s. Send it to %s, who begins with %s.", line.Word(f.dir), who, operator.ReadmeFile)
	switch {
	case r.Cloud() == permission.Azure && f.where().Azure == nil:
		out.say("There is no script in it, since the place is not known: --azure-subscription-id, --azure-resource-group and --azure-region say it.")
	case r.Cloud() == permission.GCP && f.where().Google == nil:
		out.say("There is no script in it, since the place is not known: --gcp-project-id, --gcp-project-number, --gcp-pool-id and --gcp-provider-id say it.")
	case r.Cloud() == permission.AWS && r.Account == "":
		out.say("There is no script in it, since the account is not known: --account says it.")
	}
	if r.Cloud() == permission.AWS {
		out.say("When the role's ARN is back, type:")
		out.say("  tabard operators check --request %s --role-arn ARN", line.Word(f.dir))
	}
	return out.String()
}

// locate fills in the place: what no flag says is the cluster's, or the author's.
func (f *handoffFlags) locate(ctx context.Context, world World, bundle catalogue.Bundle) error {
	f.place.Namespace = cmp.Or(f.installIn, bundle.SuggestedNamespace())
	if f.place.Namespace == "" {
		return usage.Wrong(errors.New("it is not said in which namespace the operator is installed, and its author suggests none: type -n NAMESPACE"))
	}
	if !f.asksCluster() {
		return nil
	}
	client, err := world.Connect(&f.kubeconfig)
	if err != nil {
		return err
	}
	facts, err := tokenfacts.Observe(ctx, client)
	if err != nil {
		return err
	}
	f.place.Issuer = cmp.Or(f.place.Issuer, facts.Issuer())
	f.place.Cluster = cmp.Or(f.place.Cluster, facts.InfrastructureName())
	f.place.Partition = cmp.Or(f.place.Partition, facts.Partition())
	var missing []string
	if f.place.Issuer == "" {
		missing = append(missing, "the issuer of its tokens: type --issuer URL (kubectl get --raw /.well-known/openid-configuration shows it)")
	}
	if f.place.Cluster == "" {
		missing = append(missing, "its name: type --cluster-name NAME")
	}
	if len(missing) == 0 {
		return nil
	}
	for _, right := range facts.Forbidden() {
		missing = append(missing, "you may not "+right)
	}
	return usage.Wrong(fmt.Errorf("the cluster does not tell %s", strings.Join(missing, "; ")))
}
