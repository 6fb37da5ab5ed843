package hub

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// The accounts in which a role may be wanted.
const (
	ofHub   = "hub"
	ofSpoke = "spoke"
)

const roleLong = `Print what a joining cluster needs in AWS, for a person to make. What is made carries the tag
tabard.dev/hub-role with the cluster's name. Tabard's controller never changes or deletes it.

In the hub's account a cluster needs the role ocm-hub-SUFFIX, and an access entry by which the
role is the cluster's group on the hub. Who may become the role depends on the cluster:

- in EKS (--managed-cluster-arn): its role ocm-managed-cluster-SUFFIX, with its tags.
  "--in spoke" prints that role, for the account of the cluster; --issuer is then
  the cluster's own issuer of EKS;
- anywhere, with its token issuer published (--issuer): the tokens of exactly both agents. No
  key is stored. The hub's account needs the OIDC provider of the issuer, too; leave it out
  with --without-provider if it is there;
- anywhere, with credentials of its own (--principal): the roles and users that they are of.`

func newRole(world World) *cobra.Command {
	var a asked
	var in, form string
	var noProvider bool
	role := &cobra.Command{
		Use:   "role CLUSTER",
		Short: "Print the roles that a joining cluster needs in AWS",
		Long:  roleLong,
		Example: `  # a cluster that has joined, as the kubeconfig's hub knows it
  tabard hub role cluster1

  # a cluster outside AWS, without any key
  tabard hub role onprem-1 --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub \
    --issuer https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com --print terraform

  # a cluster in EKS: the role in its own account
  tabard hub role cluster1 --in spoke --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub \
    --managed-cluster-arn arn:aws:eks:us-east-1:222222222222:cluster/spoke-1 \
    --issuer https://oidc.eks.us-east-1.amazonaws.com/id/EXAMPLE`,
		Args: command.Spoken(world.Streams, oneCluster),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, args []string) error {
			if in != ofHub && in != ofSpoke {
				return fmt.Errorf("--in is %.80q, expected %s or %s", in, ofHub, ofSpoke)
			}
			hub, spoke, err := a.resolve(cmd.Context(), world, args[0], a.spokeARN != "" || a.issuer != "" || len(a.principals) > 0)
			if err != nil {
				return err
			}
			if err := spoke.Check(hub); err != nil {
				return err
			}
			work, err := inHub(hub, spoke)
			if noProvider {
				work.Providers = nil
			}
			if in == ofSpoke {
				work, err = inSpoke(hub, spoke)
			}
			if err != nil {
				return err
			}
			text, err := work.Text(handoff.Form(form))
			if err != nil {
				return fmt.Errorf("--print: %w", err)
			}
			return world.Streams.Print(text)
		}),
	}
	a.addARNs(role.Flags())
	a.addAgents(role.Flags())
	role.Flags().StringVar(&in, "in", ofHub, "the account whose part is printed: `hub|spoke`")
	role.Flags().BoolVar(&noProvider, "without-provider", false, "the hub's account has the issuer's OIDC provider already, such as one that an OIDCIssuer registered")
	role.Flags().StringVar(&form, "print", string(handoff.AWS), "the form, as `"+strings.Join(handoff.Forms(), "|")+"`")
	return role
}

// byHand is the tag of what people make with these commands.
const byHand = "tabard.dev/hub-role"

// inHub is what a spoke needs in the hub's account.
func inHub(hub core.ARN, spoke core.Spoke) (handoff.Work, error) {
	name, trust, err := spoke.HubRole(hub)
	if err != nil {
		return handoff.Work{}, err
	}
	arn := hub.RoleARN(name)
	work := handoff.Work{
		About: []string{fmt.Sprintf("What the cluster %s needs in account %s to join the hub %s.", spoke.Cluster, hub.Account, hub)},
		Owner: handoff.Tag{Key: byHand, Value: spoke.Cluster},
		Roles: []handoff.Role{{Name: name, Description: "The agents of " + spoke.Cluster + " on the hub " + hub.Name, Trust: handoff.Policy(trust)}},
		Entries: []handoff.AccessEntry{{
			Cluster: hub.Name, Region: hub.Region, PrincipalARN: arn, Username: spoke.Cluster, Groups: []string{core.Group(spoke.Cluster)},
		}},
	}
	switch {
	case !spoke.ARN.IsZero():
		work.About = append(work.About, fmt.Sprintf("Its role %s has to exist in account %s before: AWS refuses a trust policy that names a role which does not. Where Tabard's controller manages the hub's roles, it makes this role itself.", spoke.ARN.RoleARN(core.SpokeRoleName(strings.TrimPrefix(name, core.RoleName("")))), spoke.ARN.Account))
	case spoke.Issuer != "":
		work.Providers = []handoff.Provider{{ARN: spoke.Provider(hub), URL: spoke.Issuer, Audiences: []string{core.TokenAudience}}}
		work.About = append(work.About, "Its agents become the role with their own tokens: "+strings.Join(spoke.Agents.Subjects(), " and ")+".")
	default:
		work.About = append(work.About, "Each of these needs the right sts:AssumeRole on "+arn+": "+strings.Join(spoke.Principals, ", ")+".")
	}
	work.About = append(work.About, "When the cluster leaves, delete the access entry first, then the role.")
	return work, nil
}

// inSpoke is what a spoke in EKS needs in its own account.
func inSpoke(hub core.ARN, spoke core.Spoke) (handoff.Work, error) {
	own, err := spoke.OwnRole(hub)
	if err != nil {
		return handoff.Work{}, err
	}
	role := handoff.Role{
		Name: own.Name, Description: "The agents of " + spoke.Cluster, Trust: handoff.Policy(own.Trust),
		PolicyName: "become-hub-role", Policy: handoff.Policy(own.Policy), Tags: handoff.TagsOf(own.Tags),
	}
	return handoff.Work{
		About: []string{
			fmt.Sprintf("What the cluster %s, %s, needs in its own account %s to join the hub %s.", spoke.Cluster, spoke.ARN, spoke.ARN.Account, hub),
			"The role in the hub's account demands these tags of it. The account has to have the provider " + own.Provider + " with the audience " + core.TokenAudience + ".",
		},
		Owner: handoff.Tag{Key: byHand, Value: spoke.Cluster},
		Roles: []handoff.Role{role},
	}, nil
}
