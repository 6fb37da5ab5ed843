package certificate

import (
	"crypto/x509"
	"encoding/pem"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// Metrics are those of the controller of one configuration, beside those that all have.
type Metrics struct {
	*controller.Metrics
	all series
	own ownSeries
}

// series are metrics with the label configuration.
type series struct {
	phases, expiry   *prometheus.GaugeVec
	steps            *prometheus.CounterVec
	looks, rotations *prometheus.HistogramVec
}

// ownSeries are the same of one configuration.
type ownSeries struct {
	phases, expiry   *prometheus.GaugeVec
	steps            *prometheus.CounterVec
	looks, rotations prometheus.ObserverVec
}

// of are those of one configuration.
func (s series) of(configuration string) ownSeries {
	label := prometheus.Labels{configurationLabel: configuration}
	return ownSeries{
		phases: s.phases.MustCurryWith(label), expiry: s.expiry.MustCurryWith(label), steps: s.steps.MustCurryWith(label),
		looks: s.looks.MustCurryWith(label), rotations: s.rotations.MustCurryWith(label),
	}
}

// configurationLabel says which MutatingWebhookConfiguration a metric is about.
const configurationLabel = "configuration"

// NewMetrics makes the metrics and registers them, for the default configuration.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	phases := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tabard_certificate_phase",
		Help: "1 for the phase that the webhook's certificate is in, 0 for the others.",
	}, []string{configurationLabel, "phase"})
	expiry := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tabard_certificate_expiry_seconds",
		Help: "When the certificate of the Secret expires, in seconds since 1970; 0 without one, and without a webhook configuration. Of several CAs it is the newest.",
	}, []string{configurationLabel, "certificate"})
	steps := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tabard_certificate_steps_total",
		Help: "Steps that issued or rotated the webhook's certificate and its CA.",
	}, []string{configurationLabel, "step"})
	looks := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "tabard_certificate_probe_seconds",
		Help:    "How long a dry run through one API server took, by result: the API server trusts the webhook's new CA, it does not, or neither is proven.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 10, 25},
	}, []string{configurationLabel, "verdict"})
	rotations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "tabard_certificate_rotation_seconds",
		Help:    "Time from the new CA in the webhook configuration to its certificate in use: proven if every API server has shown that it trusts the CA, waited if not.",
		Buckets: []float64{60, 90, 120, 300, 600, 900, 3600, 86400, 7 * 86400, 30 * 86400},
	}, []string{configurationLabel, "basis"})
	registry.MustRegister(phases, expiry, steps, looks, rotations)
	all := &Metrics{all: series{phases, expiry, steps, looks, rotations}}
	return all.Beside(controller.NewMetrics(registry, defaultName), DefaultConfiguration)
}

// Beside are the metrics of another configuration, whose controller has those that all have
// as its own.
func (m *Metrics) Beside(common *controller.Metrics, configuration string) *Metrics {
	out := &Metrics{Metrics: common, all: m.all, own: m.all.of(configuration)}
	for _, verdict := range []core.Verdict{core.Trusted, core.Refused, core.Unknown} {
		out.own.looks.WithLabelValues(string(verdict))
	}
	for _, basis := range []core.Basis{core.Proven, core.Waited} {
		out.own.rotations.WithLabelValues(string(basis))
	}
	return out
}

// sharedMetrics are those that the manager serves; there is one manager a process.
var sharedMetrics = sync.OnceValue(func() *Metrics { return NewMetrics(metrics.Registry) })

// observed tells where a pass found the certificate.
func (m *Metrics) observed(now core.Phase, secret map[string][]byte) {
	for _, phase := range core.Phases() {
		value := 0.0
		if phase == now {
			value = 1
		}
		m.own.phases.WithLabelValues(string(phase)).Set(value)
	}
	if now == core.Absent { // what is left of a webhook that is no more is nobody's concern
		secret = nil
	}
	m.own.expiry.WithLabelValues("serving").Set(expiryOf(secret[core.ServingKey]))
	m.own.expiry.WithLabelValues("ca").Set(expiryOf(secret[core.AuthoritiesKey]))
}

// expiryOf is that of the first certificate of a PEM text, 0 for none.
func expiryOf(text []byte) float64 {
	block, _ := pem.Decode(text)
	if block == nil {
		return 0
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return 0
	}
	return float64(parsed.NotAfter.Unix())
}

// performed counts a step, and measures a rotation that it ends.
func (m *Metrics) performed(step core.Step, w core.World) {
	m.own.steps.WithLabelValues(step.String()).Inc()
	if serving, ok := step.(core.IssueServing); ok && serving.Basis != core.Served {
		m.own.rotations.WithLabelValues(string(serving.Basis)).Observe(w.Now.Sub(w.Memory.Since).Seconds())
	}
}

// looked measures a dry run through one API server.
func (m *Metrics) looked(verdict core.Verdict, took time.Duration) {
	m.own.looks.WithLabelValues(string(verdict)).Observe(took.Seconds())
}
