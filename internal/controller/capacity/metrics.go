package capacity

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// Metrics are those of the controller, beside those that all have.
type Metrics struct {
	*controller.Metrics
	passes     *prometheus.CounterVec
	mismatches *prometheus.CounterVec
	fetches    *prometheus.CounterVec
	catalogue  *catalogue
}

// catalogue tells the ages of the lists of instance types when it is asked.
type catalogue struct {
	age *prometheus.Desc
	of  atomic.Pointer[func() map[string]time.Duration]
}

// Describe implements prometheus.Collector.
func (c *catalogue) Describe(into chan<- *prometheus.Desc) { into <- c.age }

// Collect implements prometheus.Collector.
func (c *catalogue) Collect(into chan<- prometheus.Metric) {
	of := c.of.Load()
	if of == nil {
		return
	}
	for region, age := range (*of)() {
		into <- prometheus.MustNewConstMetric(c.age, prometheus.GaugeValue, age.Seconds(), region)
	}
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		Metrics: controller.NewMetrics(registry, "capacity"),
		passes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_capacity_passes_total",
			Help: "Reconciliations of MachineSets and MachineDeployments, by outcome.",
		}, []string{"kind", "outcome"}),
		mismatches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_capacity_mismatches_total",
			Help: "How often the status of an AWSMachineTemplate differed from what AWS reports for its instance type.",
		}, []string{"kind"}),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_capacity_catalogue_fetches_total",
			Help: "Attempts to fetch a region's list of instance types.",
		}, []string{"region", "result"}),
		catalogue: &catalogue{age: prometheus.NewDesc("tabard_capacity_catalogue_age_seconds",
			"How old the list of instance types is that is used for a region.", []string{"region"}, nil)},
	}
	registry.MustRegister(m.passes, m.mismatches, m.fetches, m.catalogue)
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

// Fetched counts an attempt to fetch a region's list of instance types.
func Fetched(region string, err error) { sharedMetrics().fetched(region, err) }

func (m *Metrics) fetched(region string, err error) {
	result := "success"
	if err != nil {
		result = "error"
	}
	m.fetches.WithLabelValues(region, result).Inc()
}
