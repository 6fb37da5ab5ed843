package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/webhook"
	"github.com/tabard-dev/tabard/internal/webhook/ocm"
)

// ocmWebhookFlags are what the command is told.
type ocmWebhookFlags struct {
	options           ocm.Options
	kubeconfig, level string
	memory            string
}

func ocmWebhookCommand() *cobra.Command {
	var f ocmWebhookFlags
	c := &cobra.Command{
		Use:   "ocm-webhook",
		Short: "Run the admission webhook for Open Cluster Management",
		Long: `Run the admission webhook ocm.tabard.dev. With it, clusters outside EKS join a hub of Open
Cluster Management in EKS, with a mounted AWS configuration or with a token of their own
ServiceAccounts. It is asked about

  Klusterlets        one of the driver awsirsa without managedClusterArn gets a placeholder, which
                     Open Cluster Management's operator can read
  pods               agents get no placeholder, the suffix of their role, the Secret of
                     iamConfigSecret or a token, and tabard-eks-token in the place of the AWS
                     command line; a hub controller never gets the driver awsirsa
  ServiceAccounts    they get no role of a placeholder, and with disableManagedIam none that
                     makes roles

Of pods and ServiceAccounts it is asked only in namespaces with the label tabard.dev/ocm=enabled.
It changes no Deployment, and no image of theirs.`,
		Example: `  # with the certificate that the controller "certificate" keeps
  tabard ocm-webhook --tls-secret-namespace=tabard-certificate --token-image=ghcr.io/tabard-dev/tabard-eks-token:1

  # with a certificate in files
  tabard ocm-webhook --tls-cert=tls.crt --tls-key=tls.key --token-image=registry.example.com/tabard-eks-token:1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	f.add(c.Flags())
	return c
}

func (f *ocmWebhookFlags) add(flags *pflag.FlagSet) {
	f.options.AddListening(flags, webhook.Listening{Port: 9443, Namespace: command.Namespace, NamespaceOf: "the Secret with the serving certificate", Secret: "tabard-ocm-cert"})
	command.AddKubeconfig(flags, &f.kubeconfig, "the cluster served")
	flags.StringVar(&f.options.Settings.TokenImage, "token-image", "", "image of tabard-eks-token. An init container puts the program into agents' pods (required)")
	flags.StringVar(&f.options.Settings.PullPolicy, "token-image-pull-policy", "", "when that image is pulled: Always, IfNotPresent or Never (default: the kubelet's)")
	flags.StringVar(&f.memory, "memory-limit", "", "memory limit of the process, such as 256Mi, from which the limits of connections and reviews follow; empty: that of its cgroup")
	flags.StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
}

// check says what of the flags cannot work.
func (f *ocmWebhookFlags) check() error {
	if f.options.Settings.TokenImage == "" {
		return errors.New("--token-image is empty, expected the image of tabard-eks-token, such as ghcr.io/tabard-dev/tabard-eks-token:1")
	}
	switch corev1.PullPolicy(f.options.Settings.PullPolicy) {
	case "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
		return nil
	}
	return fmt.Errorf("--token-image-pull-policy=%.80s: expected Always, IfNotPresent or Never", f.options.Settings.PullPolicy)
}

func (f *ocmWebhookFlags) run(ctx context.Context) error {
	if err := f.check(); err != nil {
		return program.Unusable(err)
	}
	logger, err := program.NewLogger(os.Stderr, f.level)
	if err != nil {
		return err
	}
	if f.options.MemoryLimit, err = program.LimitMemory(f.memory); err != nil {
		return err
	}
	if f.options.Config, err = program.KubeConfig(f.kubeconfig); err != nil {
		return err
	}
	return ocm.Run(logr.NewContext(ctx, logr.FromSlogHandler(logger.Handler())), f.options)
}
