package operators

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/operator"
)

// Metrics are those of the controller, beside those that all have.
type Metrics struct {
	*controller.Metrics
	plans *prometheus.GaugeVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	return newMetrics(controller.NewMetrics(registry, Name), registry)
}

// newMetrics registers the controller's own, beside those of all that are registered.
func newMetrics(ofAll *controller.Metrics, registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		Metrics: ofAll,
		plans: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tabard_operator_plans",
			Help: "InstallPlans that wait for an approval, by the verdict about their permissions: NoChange, Satisfied, NotToken, Missing, Unknown or Overridden.",
		}, []string{"verdict"}),
	}
	registry.MustRegister(m.plans)
	m.waiting(nil)
	return m
}

// sharedMetrics are those that the manager serves; there is one manager a process. Those
// of all are the kit's, which registers them once.
var sharedMetrics = sync.OnceValue(func() *Metrics { return newMetrics(controller.MetricsOf(Name), metrics.Registry) })

// waiting takes over how many plans wait in each namespace.
func (m *Metrics) waiting(all map[string]*memory) {
	counts := map[operator.Verdict]int{}
	for _, of := range all {
		for verdict, count := range of.waiting {
			counts[verdict] += count
		}
	}
	for _, verdict := range operator.Verdicts() {
		m.plans.WithLabelValues(string(verdict)).Set(float64(counts[verdict]))
	}
}
