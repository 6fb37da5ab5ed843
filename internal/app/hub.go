package app

import (
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/hub"
)

func hubCommand() *cobra.Command {
	return hub.New(hub.World{
		Streams: program.StandardStreams(), Cluster: hubCluster, AWS: newHubSession,
		Hub: func(kubeconfig *command.Kubeconfig) (client.Reader, error) {
			config, err := program.KubeConfigOf(kubeconfig)
			if err != nil {
				return nil, err
			}
			return client.New(config, client.Options{})
		},
	})
}
