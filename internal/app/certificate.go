package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
)

// certificateFlags are what the controller of that name is told.
type certificateFlags struct {
	previous string
	// taken is previous, taken apart.
	taken types.NamespacedName
}

func (f *certificateFlags) add(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&f.previous, prefix+"previous-secret", "",
		"NAMESPACE/NAME of the one Secret in which an earlier version kept certificate and CA, to go on from it; empty: none")
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

func declareCertificate() *declaration {
	var f certificateFlags
	return &declaration{
		name:  "certificate",
		does:  "makes the webhook's serving certificate and tells the API server its CA",
		page:  "webhook.md",
		flags: f.add, complete: f.complete,
		add: func(_ context.Context, mgr ctrl.Manager, op *operator) error {
			return certificate.Add(mgr, certificate.Options{Host: op.host, Namespace: op.namespace, Previous: f.taken})
		},
	}
}
