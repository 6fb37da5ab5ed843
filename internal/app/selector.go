package app

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/selector"
)

func selectorCommand() *cobra.Command {
	return selector.New(program.StandardStreams(), connectSelectors)
}

// connectSelectors makes the clients that explaining needs.
func connectSelectors(kubeconfig *command.Kubeconfig) (selector.Cluster, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return selector.Cluster{}, err
	}
	namespace, err := kubeconfig.Namespace()
	if err != nil {
		return selector.Cluster{}, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return selector.Cluster{}, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	return selector.Cluster{Objects: objects, Kinds: kinds, Namespace: namespace}, err
}
