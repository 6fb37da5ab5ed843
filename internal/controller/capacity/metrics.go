package capacity

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// Metrics are those of the controller.
type Metrics struct {
	passes     *prometheus.CounterVec
	mismatches *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		passes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_capacity_passes_total",
			Help: "Looks at a MachineSet or MachineDeployment, by how they ended.",
		}, []string{"kind", "outcome"}),
		mismatches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_capacity_mismatches_total",
			Help: "How often the status of an AWSMachineTemplate was found to disagree with what AWS says of its instance type.",
		}, []string{"kind"}),
	}
	registry.MustRegister(m.passes, m.mismatches)
	for _, k := range kinds {
		if k.annotated == "" {
			continue
		}
		m.mismatches.WithLabelValues(string(k.annotated))
		for _, outcome := range core.Outcomes() {
			m.passes.WithLabelValues(string(k.annotated), string(outcome))
		}
	}
	return m
}

// sharedMetrics are those that the manager serves; there is one manager a process.
var sharedMetrics = sync.OnceValue(func() *Metrics { return NewMetrics(metrics.Registry) })

func (m *Metrics) ended(kind core.Kind, outcome core.Outcome) {
	m.passes.WithLabelValues(string(kind), string(outcome)).Inc()
}

func (m *Metrics) mismatched(kind core.Kind) { m.mismatches.WithLabelValues(string(kind)).Inc() }
