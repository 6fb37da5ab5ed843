package certificate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/alerts"
)

// TestAlertsNameWhatIsServed has a controller that makes a certificate when it may write again,
// and that has met a step that it does not know.
func TestAlertsNameWhatIsServed(t *testing.T) {
	t.Parallel()
	refused := errors.New("no room")
	c, _ := setup(t, interceptor.Funcs{Create: func(ctx context.Context, into client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if refused != nil {
			return refused
		}
		return into.Create(ctx, object, options...)
	}}, configuration())
	registry := prometheus.NewRegistry()
	c.Metrics = certificate.NewMetrics(registry)
	if _, err := pass(t, c); !errors.Is(err, refused) {
		t.Fatalf("the pass ends with %v, want what the API server said", err)
	}
	refused = nil
	reconcileUntilQuiet(t, c)
	c.Metrics.Made("Unknown", controller.UnknownStep(nil))
	other := prometheus.NewRegistry()
	second := c.Metrics.Beside(controller.NewMetrics(other, certificate.OCM(nil, "").Name), "tabard-ocm")
	if err := second.Pass("tabard-ocm", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	second.Made("Unknown", controller.UnknownStep(nil))
	alerts.Check(t, "../../../config/alerts/certificate.yaml", "../../../docs/webhook.md", registry, other)
}
