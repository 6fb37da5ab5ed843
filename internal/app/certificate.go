package app

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/controller/certificate"
)

func addCertificate(_ context.Context, mgr ctrl.Manager, op *operator) error {
	return certificate.Add(mgr, certificate.Options{Host: op.host, Namespace: op.namespace})
}
