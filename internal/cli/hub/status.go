package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubjoin"
)

const statusLong = `Walk the join of a cluster in order, and mark the first link that is broken, with what mends it:

  hub         the ClusterManager, and who makes the roles
  asked       the ManagedCluster, and whether its annotations belong to this hub
  accepted    a person has accepted it, and the hub has given it its rights
  access      its role in the hub's account, and the access entry of the role
  joined      its agents have come in with their own identity
  available   they report
  works       what the hub sends is applied

Where Tabard makes the roles, the link access is what the HubAccess says. Where people make them,
--aws looks at the role and its access entry with your own session in the hub's account. Without
the flag AWS is not called.

With --spoke-context or --spoke-kubeconfig it looks at the joining cluster, too, after the hub:

  klusterlet  it leads to this hub, under this name, and the admission hook is asked about its agents
  identity    where the agents have their identity of AWS from. Of a Secret only the names of its
              keys are looked at
  agents      their pods run

The marks are: ✓ it holds; ✗ it is broken; ? it could not be read, or was not looked at;
- it waits for a link above. Nothing is changed.

Exit codes: 0 all links hold; 1 a link is broken or could not be read; 2 the input cannot be used.`

// lookTime is when a look at a cluster, and one at AWS, ends, whatever the flags say.
const lookTime = 30 * time.Second

// status are the command's flags.
type status struct {
	hub       asked
	spoke     command.Kubeconfig
	namespace string
	klusters  string
	aws       bool
	output    command.Output
}

// joinReport is what -o json prints.
type joinReport struct {
	command.Meta `json:",inline"`

	Cluster string `json:"cluster"`
	// Holds says that all links hold; Broken names the first that is broken.
	Holds  bool              `json:"holds"`
	Broken string            `json:"broken,omitempty"`
	Links  []hubjoin.Finding `json:"links"`
}

func newStatus(world World) *cobra.Command {
	var s status
	out := &cobra.Command{
		Use:   "status CLUSTER",
		Short: "Walk the join of a cluster in order, and say what mends the first broken link",
		Long:  statusLong,
		Example: `  # as the hub sees it
  tabard hub status cluster1

  # with its role and access entry, as your own session in AWS sees them
  tabard hub status cluster1 --aws --hub-cluster-arn arn:aws:eks:us-west-2:111111111111:cluster/eks-hub

  # with the agents, from the joining cluster's side
  tabard hub status cluster1 --spoke-kubeconfig spoke.kubeconfig

  # the name of the first broken link
  tabard hub status cluster1 -o jsonpath='{.broken}'`,
		Args: command.Spoken(world.Streams, oneCluster),
		RunE: command.Spoken(world.Streams, func(cmd *cobra.Command, args []string) error {
			e, err := s.look(cmd.Context(), world, args[0])
			if err != nil {
				return err
			}
			return s.tell(world.Streams, e.Cluster, hubjoin.Walk(e))
		}),
	}
	f := out.Flags()
	addHub(&s.hub, f)
	s.spoke.AddSecond(f, "spoke", "the joining cluster")
	f.StringVar(&s.klusters, "klusterlet-name", "klusterlet", "the name of the joining cluster's Klusterlet")
	f.StringVarP(&s.namespace, "namespace", "n", command.Namespace, "the namespace of Tabard's controller on the hub")
	f.BoolVar(&s.aws, "aws", false, "look at the role and its access entry with your own session in AWS, if people make them")
	s.output.AddFlags(out)
	return out
}

// look sees all that the flags ask for.
func (s *status) look(ctx context.Context, world World, cluster string) (e hubjoin.Evidence, err error) {
	e = hubjoin.Evidence{Cluster: cluster, Now: time.Now()}
	for what, name := range map[string]string{"the argument": cluster, "--klusterlet-name": s.klusters} {
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
			return e, fmt.Errorf("%s is %.100q, which is no name: %s", what, name, wrong[0])
		}
	}
	if s.hub.hubARN != "" {
		if e.HubARN, err = core.ParseARN(s.hub.hubARN); err != nil {
			return e, fmt.Errorf("--hub-cluster-arn: %w", err)
		}
	}
	if err := s.output.Check(); err != nil {
		return e, err
	}
	reader, err := world.Hub(&s.hub.kubeconfig)
	if err != nil {
		return e, err
	}
	if s.spoke.IsSet() {
		if s.spoke.Path == "" {
			s.spoke.Path = s.hub.kubeconfig.Path
		}
		spoke, err := world.Hub(&s.spoke)
		if err != nil {
			return e, fmt.Errorf("the joining cluster: %w", err)
		}
		bounded, done := context.WithTimeout(ctx, lookTime)
		defer done()
		e.Spoke = spokeSeen(bounded, spoke, s.klusters)
	}
	bounded, done := context.WithTimeout(ctx, lookTime)
	defer done()
	hubSeen(bounded, reader, world, s.namespace, &e)
	if s.aws {
		e.AWS = inAWS(ctx, world, e)
	}
	return e, nil
}

// inAWS looks at the role and its access entry, if it is known which.
func inAWS(ctx context.Context, world World, e hubjoin.Evidence) *hubjoin.AWS {
	arn, role, ok := hubjoin.Target(e)
	if !ok {
		return &hubjoin.AWS{}
	}
	bounded, done := context.WithTimeout(ctx, lookTime)
	defer done()
	seen := world.Access(bounded, arn, role)
	return &seen
}

// tell prints what was found, and ends as it is.
func (s *status) tell(streams command.Streams, cluster string, findings []hubjoin.Finding) error {
	report := joinReport{Meta: command.MetaOf("HubStatus"), Cluster: cluster, Holds: hubjoin.AllHold(findings), Links: findings}
	first, broken := hubjoin.First(findings)
	report.Broken = first.Link
	if err := streams.PrintAs(s.output, command.Printed{Document: report, Text: func() string { return walked(findings) }}); err != nil {
		return err
	}
	switch {
	case report.Holds:
		return nil
	case broken:
		return streams.Refuse(command.Found, fmt.Errorf("the join of %s stops at the link %s", cluster, first.Link))
	}
	return streams.Refuse(command.Found, errors.New("not all links were seen: those marked with ? say what is needed"))
}

// marks are how links look to people.
var marks = map[hubjoin.State]string{hubjoin.Holds: "✓", hubjoin.Broken: "✗", hubjoin.Unknown: "?", hubjoin.Waits: "-"}

// walked is what was found, for people.
func walked(findings []hubjoin.Finding) string {
	var out strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&out, " %s %-12s %s\n", marks[f.State], f.Link, command.Plain(f.Text))
		for i, line := range f.Mend {
			label := "mend:"
			if i > 0 {
				label = ""
			}
			fmt.Fprintf(&out, "%15s %-5s %s\n", "", label, command.Plain(line))
		}
	}
	return out.String()
}
