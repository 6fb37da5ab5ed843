package app

import (
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/webhook"
)

func webhookCommand() *cobra.Command {
	var options webhook.Options
	var kubeconfig, level string
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Run the pod identity webhook",
		Long: `Run the pod identity webhook. For each pod that is created it looks up the pod's
ServiceAccount and, if that carries the annotation eks.amazonaws.com/role-arn, gives
the pod a projected token, and the environment by which every AWS SDK finds it.

It serves nothing before it knows all ServiceAccounts and has a certificate.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := newLogger(os.Stderr, level)
			if err != nil {
				return err
			}
			if options.Config, err = kubeConfig(kubeconfig); err != nil {
				return err
			}
			return webhook.Run(logr.NewContext(cmd.Context(), logr.FromSlogHandler(logger.Handler())), options)
		},
	}
	options.AddFlags(command.Flags())
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the cluster served (default: $KUBECONFIG, else the pod's own ServiceAccount)")
	command.Flags().StringVar(&level, "log-level", "info", "debug, info, warn or error")
	return command
}
