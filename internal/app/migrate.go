package app

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/migrate"
)

func migrateCommand() *cobra.Command {
	return migrate.New(program.StandardStreams(), func(kubeconfig *command.Kubeconfig) (dynamic.Interface, error) {
		config, err := program.KubeConfigOf(kubeconfig)
		if err != nil {
			return nil, err
		}
		return dynamic.NewForConfig(config)
	})
}
