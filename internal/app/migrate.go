package app

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/migrate"
)

func migrateCommand() *cobra.Command {
	return migrate.New(standardStreams(), func(kubeconfig string) (dynamic.Interface, error) {
		config, err := kubeConfig(kubeconfig)
		if err != nil {
			return nil, err
		}
		return dynamic.NewForConfig(config)
	})
}
