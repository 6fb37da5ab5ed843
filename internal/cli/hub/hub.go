// Package hub is the commands "tabard hub …" for clusters that join an Open Cluster Management
// hub in EKS with AWS identity: what their roles are called, and what they need in AWS.
package hub

import (
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// World is what the commands need of the process.
type World struct {
	Streams command.Streams
	// Hub reads the hub's cluster, objects without Go types included.
	Hub func(*command.Kubeconfig) (client.Reader, error)
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
	hub.AddCommand(newSuffix(world), newRole(world))
	return hub
}
