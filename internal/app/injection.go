package app

import (
	"context"
	"os"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/controller/injection"
	core "github.com/tabard-dev/tabard/internal/core/injection"
)

// injectionFlags are what the controller of that name is told of the webhook.
type injectionFlags struct{ settings core.Settings }

func (f *injectionFlags) add(flags *pflag.FlagSet, prefix string) {
	f.settings = core.Defaults()
	flags.StringVar(&f.settings.AnnotationPrefix, prefix+"annotation-prefix", f.settings.AnnotationPrefix, "the webhook's --annotation-prefix")
	flags.StringVar(&f.settings.TokenMountPath, prefix+"token-mount-path", f.settings.TokenMountPath, "the webhook's --token-mount-path")
	flags.BoolVar(&f.settings.AnyRole, prefix+"any-role", false, "count also what is no ARN of an IAM role: the webhook has --compose-role-arn or --any-role-arn")
}

func declareInjection() *declaration {
	var f injectionFlags
	return &declaration{
		name:  "injection",
		does:  "reports pods that run without the AWS identity that they should have got from the webhook",
		page:  "webhook.md",
		flags: f.add,
		add: func(_ context.Context, mgr ctrl.Manager, op *operator) error {
			name, err := os.Hostname()
			if err != nil {
				return err
			}
			return injection.Add(mgr, injection.Options{Settings: f.settings, Namespace: op.namespace, Instance: name})
		},
	}
}
