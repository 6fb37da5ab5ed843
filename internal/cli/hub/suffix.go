package hub

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

// names are what a suffix is for.
type names struct {
	command.Meta `json:",inline"`

	Cluster string `json:"cluster"`
	Suffix  string `json:"suffix"`
	HubARN  string `json:"hubARN"`
	// HubRoleARN is the role in the hub's account, SpokeRoleARN that in the account of a
	// cluster in EKS.
	HubRoleARN   string `json:"hubRoleARN"`
	SpokeRoleARN string `json:"spokeRoleARN,omitempty"`
}

func newSuffix(world World) *cobra.Command {
	var a asked
	var output command.Output
	suffix := &cobra.Command{
		Use:   "suffix CLUSTER",
		Short: "Print the suffix of a cluster's roles, and what they are called",
		Long: `Print the suffix with which the names of a cluster's roles end. Open Cluster Management's
agents compute the same: the MD5 of HUBACCOUNT#HUBNAME#ACCOUNT#NAME, where ACCOUNT and NAME are those
of the cluster in EKS. A cluster that is not in EKS has no ACCOUNT, and its NAME is that of its
ManagedCluster. With --hub-cluster-arn the command asks no cluster.`,
		Example: `  # a cluster that is not in EKS
  tabard hub suffix onprem-1 --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub

  # one in EKS
  tabard hub suffix cluster1 \
    --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub \
    --managed-cluster-arn arn:aws:eks:us-east-1:222222222222:cluster/spoke-1`,
		Args: command.Spoken(world.Streams, oneCluster),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, args []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			hub, spoke, err := a.resolve(cmd.Context(), world, args[0], a.hubARN != "" || a.spokeARN != "")
			if err != nil {
				return err
			}
			text, err := core.Suffix(hub, spoke.ARN, spoke.Cluster)
			if err != nil {
				return err
			}
			out := names{Meta: command.MetaOf("HubSuffix"), Cluster: spoke.Cluster, Suffix: text, HubARN: hub.String(), HubRoleARN: hub.RoleARN(core.RoleName(text))}
			if !spoke.ARN.IsZero() {
				out.SpokeRoleARN = spoke.ARN.RoleARN(core.SpokeRoleName(text))
			}
			return world.Streams.PrintAs(output, command.Printed{
				Document: out, Header: []string{"CLUSTER", "SUFFIX", "HUB ROLE", "SPOKE ROLE"},
				Rows: [][]string{{out.Cluster, out.Suffix, out.HubRoleARN, out.SpokeRoleARN}},
			})
		}),
	}
	a.addARNs(suffix.Flags())
	output.AddFlags(suffix)
	output.AddHeaderFlag(suffix)
	return suffix
}

func oneCluster(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes the name of one ManagedCluster, and got %d arguments; see %s --help", c.CommandPath(), len(args), c.CommandPath())
	}
	return nil
}
