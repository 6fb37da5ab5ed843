// Package hub is the commands "tabard hub …" for clusters that join an Open Cluster Management
// hub in EKS with AWS identity: what their roles are called, and what they need in AWS.
package hub

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubjoin"
)

// World is what the commands need of the process.
type World struct {
	Streams command.Streams
	// Hub reads the hub's cluster, objects without Go types included.
	Hub func(*command.Kubeconfig) (client.Reader, error)
	// Cluster is the hub's cluster, for the commands that change it.
	Cluster func(*command.Kubeconfig) (Cluster, error)
	// Manager reads a hub's ClusterManager as Tabard's controller does.
	Manager func(context.Context, client.Reader) core.ClusterManager
	// Access looks at a role of the hub's account, and at its access entry on the hub, with a
	// person's own session. What could not be read says why.
	Access func(ctx context.Context, hub core.ARN, role string) hubjoin.AWS
	// Bootstrap is the hub as an agent reaches it that has not joined.
	Bootstrap func(*rest.Config) (client.Client, error)
	// AWS is a person's own session.
	AWS func() (AWS, error)
}

// Cluster is the hub's.
type Cluster struct {
	client.Client
	// Issuer is the one that the API server's discovery document names.
	Issuer func(context.Context) (string, error)
	// Server is the URL of its API server.
	Server string
}

// AWS is a person's own session. What it reads is of the session's account.
type AWS interface {
	// Caller is who it is.
	Caller(ctx context.Context, region string) (account, arn string, err error)
	// Provider reads an OIDC provider by its ARN, and Role a role by its name with its policy
	// core.ControllerPolicyName. What could not be read says why.
	Provider(ctx context.Context, region, arn string) core.ProviderSeen
	Role(ctx context.Context, region, name string) core.RoleSeen
	// EnsureRole makes the controller's role, and says its ARN and what it changed. A role of that
	// name that lacks the hub's tag is an error, and is not changed.
	EnsureRole(ctx context.Context, controller core.Controller) (arn string, changed []string, err error)
	// DeleteRole removes a role that has the hub's tag; another one is an error.
	DeleteRole(ctx context.Context, region, name, hubARN string) error
}

// on runs what a command does on the hub's cluster. Its error is something that was found there.
func (w World) on(kubeconfig *command.Kubeconfig, run func(Cluster) error) error {
	cluster, err := w.Cluster(kubeconfig)
	if err != nil {
		return err
	}
	if err := run(cluster); err != nil {
		return w.Streams.Refuse(command.Found, err)
	}
	return nil
}

// New returns the command "hub" with its sub-commands. An error of theirs that is a
// *command.Exit has been said already: 1 for what was found or refused, 2 for unusable input.
func New(world World) *cobra.Command {
	hub := &cobra.Command{
		Use:   "hub",
		Short: "Let clusters join an Open Cluster Management hub with AWS identity",
		Long: `Commands for an Open Cluster Management hub in EKS, and for the clusters that join it
with AWS identity. No cluster keeps a key of the hub.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	hub.AddCommand(
		newSuffix(world), newRole(world), newBootstrap(world), newUnbootstrap(world), newFields(world), newStatus(world),
		newInit(world), newHubJoin(world), newAccept(world),
	)
	return hub
}
