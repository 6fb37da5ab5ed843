package program

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeConfig is the named file, else $KUBECONFIG, else the pod's own account,
// else the user's default file.
func KubeConfig(path string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w; set --kubeconfig or $KUBECONFIG", err)
	}
	// The API server divides itself up (API Priority and Fairness); five requests a
	// second, client-go's own limit, would take minutes for hundreds of objects.
	config.QPS = -1
	return config, nil
}

// KubeConfigAt is KubeConfig, with another server if one is named.
func KubeConfigAt(path, server string) (*rest.Config, error) {
	if server == "" {
		return KubeConfig(path)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	overrides := &clientcmd.ConfigOverrides{ClusterInfo: clientcmdapi.Cluster{Server: server}}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to at --kube-api: %w", err)
	}
	return config, nil
}
