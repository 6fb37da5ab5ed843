package injection

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/injection"
)

// Metrics are those of the controller, beside those that all have.
type Metrics struct {
	*controller.Metrics
	pods *prometheus.GaugeVec
	// shown are the namespaces that have a series.
	shown map[string]bool
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		Metrics: controller.NewMetrics(registry, Name),
		pods: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tabard_injection_pods_without_identity",
			Help: "Pods that run without the AWS identity that an annotation asks for. Beyond a hundred namespaces the rest is in namespace=\"" + core.OtherNamespaces + "\".",
		}, []string{"namespace"}),
		shown: map[string]bool{},
	}
	registry.MustRegister(m.pods)
	return m
}

// sharedMetrics are those that the manager serves; there is one manager a process.
var sharedMetrics = sync.OnceValue(func() *Metrics { return NewMetrics(metrics.Registry) })

// found takes over how many pods there are, by namespace. A namespace that had some
// stays with 0, so that it is seen that they have gone; not where there is no such
// namespace any more, or more series than are wanted.
func (m *Metrics) found(counts map[string]int, exists func(namespace string) bool) {
	for namespace := range m.shown {
		_, has := counts[namespace]
		room := len(m.shown) <= core.MaxNamespaces
		switch {
		case has:
		case room && (exists(namespace) || namespace == core.OtherNamespaces):
			m.pods.WithLabelValues(namespace).Set(0)
		default:
			m.pods.DeleteLabelValues(namespace)
			delete(m.shown, namespace)
		}
	}
	for namespace, count := range counts {
		m.pods.WithLabelValues(namespace).Set(float64(count))
		m.shown[namespace] = true
	}
}
