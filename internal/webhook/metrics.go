package webhook

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// Outcomes of an admission.
const (
	injected  = "injected"
	unchanged = "unchanged"
	refused   = "refused"
	failed    = "failed"
)

// metrics are those of one server, in a registry of its own.
type metrics struct {
	registry   *prometheus.Registry
	admissions *prometheus.CounterVec
	seconds    prometheus.Histogram
	lookups    *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		admissions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_webhook_admissions_total",
			Help: "Reviews answered, by what became of the pod and why.",
		}, []string{"outcome", "reason"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "tabard_webhook_admission_seconds",
			Help:    "Time from a review's arrival to its answer.",
			Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .1, .5, 1, 2.5},
		}),
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_webhook_lookups_total",
			Help: "Live looks at ServiceAccounts that the cache did not know, by result.",
		}, []string{"result"}),
	}
	m.registry.MustRegister(m.admissions, m.seconds, m.lookups,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// watch adds what is asked at the time of a scrape.
func (m *metrics) watch(known accounts, serving *certificate) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tabard_webhook_synced",
			Help: "1 if the ServiceAccounts have been read, else 0.",
		}, func() float64 {
			if known.synced() {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tabard_webhook_certificate_expiry_seconds",
			Help: "When the serving certificate expires, in seconds since 1970; 0 without one.",
		}, func() float64 {
			if loaded := serving.current.Load(); loaded != nil {
				return float64(loaded.Leaf.NotAfter.Unix())
			}
			return 0
		}))
}

func (m *metrics) admission(outcome string, reason inject.Reason, took time.Duration) {
	m.admissions.WithLabelValues(outcome, string(reason)).Inc()
	m.seconds.Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
