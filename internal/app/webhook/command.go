// Package webhook is the webhook's command, and the program that is nothing else.
package webhook

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/webhook"
)

// Command is the command that runs the webhook.
func Command() *cobra.Command {
	var flags Flags
	c := &cobra.Command{
		Use:   "webhook",
		Short: "Run the pod identity webhook",
		Long: `Run the pod identity webhook. For each pod that is created it looks up the pod's
ServiceAccount and, if that carries the annotation eks.amazonaws.com/role-arn, gives
the pod a projected token, and the environment by which every AWS SDK finds it. With
--clouds it does the same for Azure and Google Cloud.

It serves nothing before it has read all ServiceAccounts and has a certificate.`,
		Example: `  # with the certificate that tabard operator keeps in a Secret
  tabard webhook --namespace=tabard-system --port=9443

  # with a certificate in files, and roles from the config map pod-identity-webhook
  tabard webhook --tls-cert=tls.crt --tls-key=tls.key --watch-config-map

  # for pods of three clouds
  AZURE_TENANT_ID=22222222-0000-0000-0000-000000000000 tabard webhook --clouds=aws,azure,gcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.Run(cmd.Context(), cmd.Flags()) },
	}
	flags.Add(c.Flags())
	command.AddVersion(c, program.Version)
	return c
}

// Flags are what the command is told. Options are complete once Run was called.
type Flags struct {
	Options                    webhook.Options
	kubeconfig, kubeAPI, level string
	memory                     string
}

// Add adds them to a set of flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	f.Options.AddFlags(flags)
	command.AddKubeconfig(flags, &f.kubeconfig, "the cluster served")
	flags.StringVar(&f.kubeAPI, "kube-api", "", "URL of the API server, instead of the one in the kubeconfig")
	flags.StringVar(&f.memory, "memory-limit", "", "memory limit of the process, such as 256Mi, from which the limits of connections and reviews follow; empty: that of its cgroup")
	flags.StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	flags.IntP("v", "v", 0, program.KlogUsage)
}

// Run serves until ctx ends.
func (f *Flags) Run(ctx context.Context, flags *pflag.FlagSet) error {
	logger, err := program.NewLogger(os.Stderr, program.KlogLevelOf(flags, f.level))
	if err != nil {
		return err
	}
	if names := webhook.WithoutEffect(flags); len(names) > 0 {
		logger.Warn("flags without effect are set", "flags", names)
	}
	if f.Options.MemoryLimit, err = program.LimitMemory(f.memory); err != nil {
		return err
	}
	if f.Options.Config, err = program.KubeConfigAt(f.kubeconfig, f.kubeAPI); err != nil {
		return err
	}
	f.Options.AddEnvironment(os.Getenv)
	err = webhook.Run(logr.NewContext(ctx, logr.FromSlogHandler(logger.Handler())), f.Options)
	if _, is := errors.AsType[*webhook.SettingsError](err); is {
		return program.Unusable(err)
	}
	return err
}

// Main runs the program that is the webhook alone. Its arguments are those of tabard
// webhook, which may come first: a Deployment is the same with either program.
func Main(args []string) int {
	if len(args) > 0 && args[0] == "webhook" {
		args = args[1:]
	}
	return program.Run(Root(), args)
}

// Root is the command of that program.
func Root() *cobra.Command {
	command := Command()
	command.Use = "tabard-webhook"
	command.Example = strings.ReplaceAll(command.Example, "tabard webhook", "tabard-webhook")
	usage.Prepare(command)
	return command
}
