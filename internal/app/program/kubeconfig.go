package program

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// KubeConfig is the named file, else what $KUBECONFIG names, or if that is not set the
// user's default file, else the pod's own account.
func KubeConfig(path string) (*rest.Config, error) {
	config, err := load(path, nil)
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
	config, err := load(path, &clientcmd.ConfigOverrides{ClusterInfo: clientcmdapi.Cluster{Server: server}})
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to at --kube-api: %w", err)
	}
	return config, nil
}

func load(path string, overrides *clientcmd.ConfigOverrides) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
}
