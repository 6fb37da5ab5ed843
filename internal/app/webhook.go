package app

import (
	"context"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tabard-dev/tabard/internal/webhook"
)

func webhookCommand() *cobra.Command {
	var flags webhookFlags
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Run the pod identity webhook",
		Long: `Run the pod identity webhook. For each pod that is created it looks up the pod's
ServiceAccount and, if that carries the annotation eks.amazonaws.com/role-arn, gives
the pod a projected token, and the environment by which every AWS SDK finds it. With
--clouds it does the like for Azure and Google Cloud.

It serves nothing before it knows all ServiceAccounts and has a certificate.`,
		Example: `  # with the certificate that tabard operator keeps in a Secret
  tabard webhook --namespace=tabard-system --port=9443

  # with a certificate in files, and roles from the config map pod-identity-webhook
  tabard webhook --tls-cert=tls.crt --tls-key=tls.key --watch-config-map

  # for pods of three clouds
  AZURE_TENANT_ID=22222222-0000-0000-0000-000000000000 tabard webhook --clouds=aws,azure,gcp`,
		Version: version,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), cmd.Flags()) },
	}
	command.SetVersionTemplate("{{.Version}}\n")
	flags.add(command.Flags())
	return command
}

// webhookFlags are what the command is told.
type webhookFlags struct {
	options                    webhook.Options
	kubeconfig, kubeAPI, level string
	memory                     string
}

func (f *webhookFlags) add(flags *pflag.FlagSet) {
	f.options.AddFlags(flags)
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster served (default: $KUBECONFIG, else the pod's own ServiceAccount)")
	flags.StringVar(&f.kubeAPI, "kube-api", "", "URL of the API server, instead of the one in the kubeconfig")
	flags.StringVar(&f.memory, "memory-limit", "", "memory that the process may take, such as 256Mi: what it lets in at a time follows from it; empty: the limit of its control group")
	flags.StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	flags.IntP("v", "v", 0, klogUsage)
}

// run serves until ctx ends.
func (f *webhookFlags) run(ctx context.Context, flags *pflag.FlagSet) error {
	logger, err := newLogger(os.Stderr, klogLevelOf(flags, f.level))
	if err != nil {
		return err
	}
	if names := webhook.WithoutEffect(flags); len(names) > 0 {
		logger.Warn("flags without effect are set", "flags", names)
	}
	if f.options.MemoryLimit, err = limitMemory(f.memory); err != nil {
		return err
	}
	if f.options.Config, err = webhookKubeConfig(f.kubeconfig, f.kubeAPI); err != nil {
		return err
	}
	f.options.AddEnvironment(os.Getenv)
	return webhook.Run(logr.NewContext(ctx, logr.FromSlogHandler(logger.Handler())), f.options)
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
