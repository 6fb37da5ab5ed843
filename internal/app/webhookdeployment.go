package app

import (
	"context"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	shipped "github.com/tabard-dev/tabard/config/manifests"
	"github.com/tabard-dev/tabard/internal/controller/webhookdeployment"
	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
)

// webhookDeploymentFlags are what the controller of that name is told.
type webhookDeploymentFlags struct{ settings core.Settings }

func (f *webhookDeploymentFlags) add(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&f.settings.Image, prefix+"image", "", "the webhook's image (default: that of config/manifests/webhook.yaml)")
	flags.StringVar(&f.settings.Region, prefix+"region", "", "the webhook's --aws-default-region; empty: none")
}

// complete checks what the flags say.
func (f *webhookDeploymentFlags) complete() error {
	return f.settings.Check()
}

func declareWebhookDeployment() *declaration {
	var f webhookDeploymentFlags
	return &declaration{
		name: webhookdeployment.Name,
		does: "keeps the webhook's Deployment, Services, PodDisruptionBudget and hooks as config/manifests/webhook.yaml has them",
		off:  true,
		page: "webhook.md",
		lacks: map[part]string{
			alertsPart: "the alerts on the webhook fire where what it keeps is not there; an event of the webhook's Deployment says why it deploys nothing",
		},
		flags: f.add, complete: f.complete,
		add: func(_ context.Context, mgr ctrl.Manager, op *operator) error {
			settings := f.settings
			settings.Manifest, settings.Namespace = shipped.Webhook, op.namespace
			return webhookdeployment.Add(mgr, webhookdeployment.Options{Settings: settings})
		},
	}
}
