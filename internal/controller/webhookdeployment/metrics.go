package webhookdeployment

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
)

// Metrics are those of the controller, beside those that all have.
type Metrics struct {
	*controller.Metrics
	state *prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	return newMetrics(controller.NewMetrics(registry, Name), registry)
}

// newMetrics registers the controller's own, beside those of all that are registered.
func newMetrics(ofAll *controller.Metrics, registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		Metrics: ofAll,
		state: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tabard_webhookdeployment_state",
			Help: "1 for what the controller does with the webhook's deployment, 0 for the others: Kept, or the reason why it deploys nothing.",
		}, []string{"reason"}),
	}
	registry.MustRegister(m.state)
	return m
}

// sharedMetrics are those that the manager serves; there is one manager a process. Those
// of all are the kit's, which registers them once.
var sharedMetrics = sync.OnceValue(func() *Metrics { return newMetrics(controller.MetricsOf(Name), metrics.Registry) })

// now takes over what a pass has decided.
func (m *Metrics) now(reason core.Reason) {
	for _, each := range core.Reasons() {
		value := 0.0
		if each == reason {
			value = 1
		}
		m.state.WithLabelValues(string(each)).Set(value)
	}
}
