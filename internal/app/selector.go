package app

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/selector"
)

func selectorCommand() *cobra.Command {
	return selector.New(program.StandardStreams(), connectSelectors)
}

func explainCommand() *cobra.Command {
	return selector.NewExplain(program.StandardStreams(), connectSelectors)
}

// connectSelectors makes the clients that explaining needs.
func connectSelectors(kubeconfig string) (selector.Cluster, error) {
	config, err := program.KubeConfig(kubeconfig)
	if err != nil {
		return selector.Cluster{}, err
	}
	namespace, err := contextNamespace(kubeconfig)
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

// contextNamespace is the namespace that the kubeconfig's context names, or
// default.
func contextNamespace(kubeconfig string) (string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).Namespace()
	return namespace, err
}
