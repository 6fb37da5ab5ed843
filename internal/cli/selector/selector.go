// Package selector is the commands "tabard selector …" and "tabard explain …":
// which IAM role a resource is managed with, and why.
package selector

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// Cluster is a cluster that is read. It is never written.
type Cluster struct {
	Objects dynamic.Interface
	Kinds   Discovery
	// Namespace is that of the kubeconfig's context.
	Namespace string
}

// Discovery tells what an API server serves. Beside an error of some groups it
// returns the others.
type Discovery interface {
	ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
}

// Connect makes a client of a cluster by a kubeconfig.
type Connect func(kubeconfig *command.Kubeconfig) (Cluster, error)

// New returns the command "selector" with its sub-commands. Every error of theirs
// but those about flags is a *command.Exit, which has been said already.
func New(streams command.Streams, connect Connect) *cobra.Command {
	selector := &cobra.Command{
		Use:          "selector",
		Short:        "See which IAM role the role selectors give a resource, and test them without a cluster",
		SilenceUsage: true, SilenceErrors: true,
	}
	explain := newExplain(streams, connect)
	explain.Use = "explain KIND/NAME"
	selector.AddCommand(explain, newTest(streams))
	return selector
}

// NewExplain returns the command "explain", as New does.
func NewExplain(streams command.Streams, connect Connect) *cobra.Command {
	return newExplain(streams, connect)
}
