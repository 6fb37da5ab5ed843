package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
)

// certificateFlags are what the controller of that name is told.
type certificateFlags struct {
	previous string
	ocm      bool
	// taken is previous, taken apart.
	taken types.NamespacedName
}

func (f *certificateFlags) add(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&f.previous, prefix+"previous-secret", "",
		"NAMESPACE/NAME of the one Secret in which an earlier version kept certificate and CA, to go on from it; empty: none")
	flags.BoolVar(&f.ocm, prefix+"ocm", false,
		"keep a second certificate, of the webhook for Open Cluster Management: the Secrets tabard-ocm-authority and tabard-ocm-cert, and the MutatingWebhookConfiguration tabard-ocm")
}

// complete checks what the flags say.
func (f *certificateFlags) complete() error {
	if f.previous == "" {
		return nil
	}
	namespace, name, _ := strings.Cut(f.previous, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("--certificate-previous-secret is %q, expected NAMESPACE/NAME, such as tabard-system/tabard-webhook-cert", f.previous)
	}
	f.taken = types.NamespacedName{Namespace: namespace, Name: name}
	return nil
}

// options are of the certificates to keep, each by a controller of its own.
func (f *certificateFlags) options(host *rest.Config, namespace string) []certificate.Options {
	all := []certificate.Options{{Host: host, Namespace: namespace, Previous: f.taken}}
	if f.ocm {
		all = append(all, certificate.OCM(host, namespace))
	}
	return all
}

func declareCertificate() *declaration {
	var f certificateFlags
	return &declaration{
		name:  "certificate",
		does:  "makes the webhook's serving certificate and tells the API server its CA",
		page:  "webhook.md",
		flags: f.add, complete: f.complete,
		add: func(_ context.Context, mgr ctrl.Manager, op *operator) error {
			for _, options := range f.options(op.host, op.namespace) {
				if err := certificate.Add(mgr, options); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
