package app

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tabard-dev/tabard/internal/webhook"
)

// debugVerbosity is the verbosity from which EKS's webhook logs single pods.
const debugVerbosity = 3

func webhookCommand() *cobra.Command {
	var options webhook.Options
	var kubeconfig, kubeAPI, level string
	var verbosity int
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Run the pod identity webhook",
		Long: `Run the pod identity webhook. For each pod that is created it looks up the pod's
ServiceAccount and, if that carries the annotation eks.amazonaws.com/role-arn, gives
the pod a projected token, and the environment by which every AWS SDK finds it.

It serves nothing before it knows all ServiceAccounts and has a certificate.`,
		Version: version,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if verbosity >= debugVerbosity && !cmd.Flags().Changed("log-level") {
				level = "debug"
			}
			logger, err := newLogger(os.Stderr, level)
			if err != nil {
				return err
			}
			if flags := webhook.WithoutEffect(cmd.Flags()); len(flags) > 0 {
				logger.Warn("flags without effect are set", "flags", flags)
			}
			if options.Config, err = webhookKubeConfig(kubeconfig, kubeAPI); err != nil {
				return err
			}
			return webhook.Run(logr.NewContext(cmd.Context(), logr.FromSlogHandler(logger.Handler())), options)
		},
	}
	command.SetVersionTemplate("{{.Version}}\n")
	options.AddFlags(command.Flags())
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the cluster served (default: $KUBECONFIG, else the pod's own ServiceAccount)")
	command.Flags().StringVar(&kubeAPI, "kube-api", "", "URL of the API server, instead of the one in the kubeconfig")
	command.Flags().StringVar(&level, "log-level", "info", "debug, info, warn or error")
	command.Flags().IntVarP(&verbosity, "v", "v", 0, "3 and more: --log-level=debug, unless that flag is set")
	return command
}

// webhookKubeConfig is kubeConfig, with another server if one is named.
func webhookKubeConfig(path, server string) (*rest.Config, error) {
	if server == "" {
		return kubeConfig(path)
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
