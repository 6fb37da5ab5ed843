package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cli/bootstrapping"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/handoff"
)

const bootstrapLong = `Make what the controller of a hub's clusters needs in AWS and in the cluster. An administrator
runs the command once, with their own AWS session (environment, profile, SSO: whatever the AWS
command line uses) and a kubeconfig of the hub. It makes, in this order:

  1. the role tabard-hub-NAME-HASH in the hub's account, for the controller's ServiceAccount,
     where NAME is the hub's in EKS and HASH is of its ARN. The role may make roles ocm-hub-*
     and access entries of these roles on the hub, with the hub's tag, change and remove those
     that have the tag, and look. It may do nothing else;
  2. the ConfigMap tabard-hub, which the controller's Deployment reads.

The account must have the OIDC provider of the cluster's token issuer, with the audience
sts.amazonaws.com. The command does not make it. EKS gives each cluster an issuer, and registers
it nowhere. If the provider is missing, the command says how to make it.

Before the command writes anything, it looks at the provider, the role, your rights and what the
ClusterManager says. Then it shows what it will make, and asks you to continue. --dry-run ends
there. It never changes a role that lacks the tag tabard.dev/hub-controller with the hub's ARN.

The command is idempotent: it changes only what differs. A role that is there keeps its path,
its permissions boundary and its tags if no flag says them. "tabard hub unbootstrap" takes it
back.

With --print the command writes nothing, and prints the role for another team to make. With
--hub-cluster-arn and --issuer as well it needs neither a cluster nor an AWS session. Run the
command without --print afterwards: it writes the ConfigMap.

Next, turn the controller on: helm upgrade with --set hub.enabled=true.

Exit codes: 0 everything is in place, or --dry-run showed the plan; 1 refused, or AWS or the
cluster refused something; 2 the input cannot be used.`

// turnOn is how the controller is started by the chart.
const turnOn = "helm upgrade tabard charts/tabard --namespace %s --reset-then-reuse-values --set hub.enabled=true"

// ErrDeclined says that the person answered no. Nothing was written.
var ErrDeclined = errors.New("nothing was written")

// setup is what the flags of bootstrap say.
type setup struct {
	hub         asked
	controller  core.Controller
	role        bootstrapping.RoleFlags
	form        string
	account     string
	dryRun, yes bool
	replaceRole bool
	output      command.Output
}

func (s *setup) add(c *cobra.Command) {
	f := c.Flags()
	addHub(&s.hub, f)
	f.StringVar(&s.controller.Issuer, "issuer", "", "the `URL` of the token issuer of the hub's cluster (default: the one that its API server names)")
	f.StringVarP(&s.controller.Namespace, "namespace", "n", command.Namespace, "the controller's namespace")
	f.StringVar(&s.controller.ServiceAccount, "service-account", core.ControllerName, "the controller's ServiceAccount")
	s.role.Add(f, "the controller's", &s.controller.Role)
	f.StringVar(&s.form, "print", "", "print what would be made, as `"+strings.Join(handoff.Forms(), "|")+"`, and make nothing")
	f.StringVar(&s.account, "account", "", "with --print: the AWS account that you print it for; it must be the hub's (default: the hub's)")
	f.BoolVar(&s.yes, "yes", false, "do not ask before anything is written; without a terminal nothing is asked anyway")
	f.BoolVar(&s.dryRun, "dry-run", false, "show the plan, and write nothing")
	f.BoolVar(&s.replaceRole, "replace-role", false, "tell the controller this role in place of another")
	s.output.AddFlags(c)
}

// addHub adds the flags that say which hub is meant.
func addHub(a *asked, f *pflag.FlagSet) {
	a.kubeconfig.AddFlags(f)
	f.StringVar(&a.hubARN, "hub-cluster-arn", "", "the `ARN` of the hub in EKS (default: that of the hub's ClusterManager)")
}

func newBootstrap(world World) *cobra.Command {
	var s setup
	out := &cobra.Command{
		Use:   "bootstrap",
		Short: "Make the role of the hub's controller, with your own AWS session",
		Long:  bootstrapLong,
		Example: `  tabard hub bootstrap --dry-run
  tabard hub bootstrap

  # the account demands a path, a permissions boundary and tags of every role
  tabard hub bootstrap --role-path /platform/ \
    --permissions-boundary arn:aws:iam::123456789012:policy/platform --tag cost-center=42

  # for another team that makes the roles of the account; without a cluster
  tabard hub bootstrap --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub \
    --issuer https://oidc.eks.us-west-2.amazonaws.com/id/EXAMPLE --print terraform`,
		Args: command.NoArgs(world.Streams),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd, world)
		}),
	}
	s.add(out)
	return out
}

func (s *setup) run(cmd *cobra.Command, world World) error {
	if err := s.check(); err != nil {
		return err
	}
	var place place
	if s.form == "" || s.hub.hubARN == "" || s.controller.Issuer == "" {
		cluster, err := world.Cluster(&s.hub.kubeconfig)
		if err != nil {
			return err
		}
		place.cluster = cluster
	}
	if err := s.resolve(cmd.Context(), &place); err != nil {
		return err
	}
	if s.form != "" {
		return s.print(world.Streams)
	}
	b := bootstrap{setup: s, place: place, out: world.Streams.Out}
	if !s.output.IsForPeople() {
		b.out = world.Streams.Err // what a program reads comes last, and whole
	}
	if !s.yes {
		b.confirm = command.Confirm(cmd.InOrStdin(), cmd.ErrOrStderr())
	}
	session, err := world.AWS()
	if err != nil {
		return err
	}
	err = b.run(cmd.Context(), session)
	if !s.output.IsForPeople() && b.result.Kind != "" {
		err = errors.Join(err, world.Streams.PrintAs(s.output, command.Printed{Document: b.result}))
	}
	if err != nil {
		return world.Streams.Refuse(command.Found, err)
	}
	return nil
}

// check refuses what of the flags cannot be used.
func (s *setup) check() error {
	switch {
	case s.account != "" && s.form == "":
		return errors.New("--account is for --print: without it your session says the account")
	case s.account != "" && !identity.IsAccountID(s.account):
		return fmt.Errorf("--account is %.80q, expected the twelve digits of an AWS account", s.account)
	}
	return errors.Join(s.role.Check(), s.output.Check())
}

// place is the hub's cluster, and what it says of itself.
type place struct {
	cluster Cluster
	// stated and issuer are empty where the cluster says neither.
	stated, issuer string
}

// resolve says which hub and which issuer are meant. What a flag says need not be in the cluster.
func (s *setup) resolve(ctx context.Context, p *place) (err error) {
	arn := s.hub.hubARN
	if p.cluster.Client != nil {
		if p.stated, err = hubOf(ctx, p.cluster); err != nil && arn == "" {
			return err
		}
		if p.issuer, err = p.cluster.Issuer(ctx); err != nil && s.controller.Issuer == "" {
			return fmt.Errorf("the issuer of the cluster's tokens cannot be read: %w; name it with --issuer: aws eks describe-cluster --name NAME --query cluster.identity.oidc.issuer", err)
		}
	}
	if arn == "" {
		arn = p.stated
	}
	if s.controller.Issuer == "" {
		s.controller.Issuer = p.issuer
	}
	if s.controller.Hub, err = core.ParseARN(arn); err != nil {
		return fmt.Errorf("the ARN of the hub: %w", err)
	}
	if s.account != "" && s.account != s.controller.Hub.Account {
		return fmt.Errorf("--account is %s, and the hub %s is in %s, where its role has to be: leave --account out", s.account, s.controller.Hub, s.controller.Hub.Account)
	}
	return s.controller.Check()
}

// print prints the part that somebody else may do.
func (s *setup) print(streams command.Streams) error {
	text, err := ofController(s.controller).Text(handoff.Form(s.form))
	if err != nil {
		return fmt.Errorf("--print: %w", err)
	}
	return streams.Print(text)
}

// ofController is what the controller needs in the hub's account.
func ofController(c core.Controller) handoff.Work {
	return handoff.Work{
		About: []string{
			fmt.Sprintf("What Tabard needs in account %s to give the clusters of the hub %s their access.", c.Hub.Account, c.Hub),
			fmt.Sprintf("The role is for the ServiceAccount %s/%s. It may make and remove roles %s and their access entries on the hub.", c.Namespace, c.ServiceAccount, core.RoleName("*")),
			fmt.Sprintf("The account has to have the OIDC provider %s with the audience %s.", c.Provider(), core.TokenAudience),
			"Then run tabard hub bootstrap with the same flags but for --print, with a session that may look at provider and role: it tells the controller.",
		},
		Owner: handoff.Tag{Key: core.ControllerTag, Value: c.Hub.String()},
		Roles: []handoff.Role{{
			Name: core.ControllerRoleName(c.Hub), Path: c.Role.Path, Description: core.ControllerDescription, Boundary: c.Role.Boundary, Tags: handoff.TagsOf(c.Role.Tags),
			Trust:      handoff.Policy(c.Trust()),
			PolicyName: core.ControllerPolicyName, Policy: handoff.Policy(core.Permissions(c.Hub).String()),
		}},
	}
}

// say writes a line; with the output gone, the exit code still tells.
func say(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
