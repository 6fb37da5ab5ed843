package app

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/migrate"
)

func migrateCommand() *cobra.Command {
	return migrate.New(program.StandardStreams(), objectsOf)
}

// objectsOf are a cluster's objects of any kind. What the API server warns of whoever writes them
// is said as kubectl says it, and not by the log of client-go.
func objectsOf(kubeconfig *command.Kubeconfig) (dynamic.Interface, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.WarningHandler = rest.NewWarningWriter(program.StandardStreams().Err, rest.WarningWriterOptions{Deduplicate: true})
	return dynamic.NewForConfig(config)
}
