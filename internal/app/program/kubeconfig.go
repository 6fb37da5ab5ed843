package program

import (
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	"github.com/tabard-dev/tabard/internal/cli/command"
)

// KubeConfig is the named file, else what $KUBECONFIG names, or if that is not set the
// user's default file, else the pod's own account.
func KubeConfig(path string) (*rest.Config, error) {
	return configOf(&command.Kubeconfig{Path: path})
}

// KubeConfigOf is the cluster that a person's flags name. While it does not answer, the person
// is told.
func KubeConfigOf(flags *command.Kubeconfig) (*rest.Config, error) {
	config, err := configOf(flags)
	if err == nil {
		config.Wrap(command.SayWaits(StandardStreams().Err))
	}
	return config, err
}

func configOf(flags *command.Kubeconfig) (*rest.Config, error) {
	config, err := flags.Config()
	if err != nil {
		return nil, err
	}
	// The API server divides itself up (API Priority and Fairness); five requests a
	// second, client-go's own limit, would take minutes for hundreds of objects.
	config.QPS = -1
	config.Wrap(follow.Bounded)
	return config, nil
}

// KubeConfigAt is KubeConfig, with another server if one is named.
func KubeConfigAt(path, server string) (*rest.Config, error) {
	if server == "" {
		return KubeConfig(path)
	}
	flags := command.Kubeconfig{Path: path}
	flags.Server(server)
	config, err := configOf(&flags)
	if err != nil {
		return nil, fmt.Errorf("--kube-api: %w", err)
	}
	return config, nil
}
