package webhook

import (
	"net/http"
	"strconv"
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
	names      metricNames
	admissions *prometheus.CounterVec
	seconds    prometheus.Histogram
	lookups    *prometheus.CounterVec
	reference  referenceMetrics
	// displaced counts connections that others took the place of.
	displaced prometheus.Counter
	// Those of the configuration are by source: identities or config-map.
	configurationReads                          *prometheus.CounterVec
	configurationEntries, configurationProblems *prometheus.GaugeVec
}

// metricNames are those of what every server of hooks has. Each server has its own, so that the alerts
// of one are not about another.
type metricNames struct {
	admissions, seconds, displaced, synced, expiry, connections, known string
}

// podNames are the pod identity webhook's.
var podNames = metricNames{
	admissions: "tabard_webhook_admissions_total", seconds: "tabard_webhook_admission_seconds",
	displaced: "tabard_webhook_connections_displaced_total", synced: "tabard_webhook_synced",
	expiry:      "tabard_webhook_certificate_expiry_seconds",
	connections: "tabard_webhook_connections", known: "tabard_webhook_connections_known",
}

// namesWith are those of another server, by what they begin with.
func namesWith(prefix string) metricNames {
	return metricNames{
		admissions: prefix + "_admissions_total", seconds: prefix + "_admission_seconds", displaced: prefix + "_connections_displaced_total",
		synced: prefix + "_synced", expiry: prefix + "_certificate_expiry_seconds",
		connections: prefix + "_connections", known: prefix + "_connections_known",
	}
}

// newMetrics are those of the pod identity webhook.
func newMetrics() *metrics {
	m := newMetricsOf(podNames, "Reviews answered, by cloud, outcome and reason.", "cloud", "outcome", "reason")
	m.lookups = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tabard_webhook_lookups_total",
		Help: "Reads from the API server of ServiceAccounts and namespaces that were not in the cache, or had just changed, by result.",
	}, []string{"result"})
	m.reference = newReferenceMetrics()
	m.configurationReads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tabard_webhook_configuration_reads_total",
		Help: "Changes of the identities file and the ConfigMap, by result: applied, or refused, so that the content before stays in use.",
	}, []string{"source", "result"})
	m.configurationEntries = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tabard_webhook_configuration_entries", Help: "Entries of the configuration that is applied.",
	}, []string{"source"})
	m.configurationProblems = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tabard_webhook_configuration_problems", Help: "Problems in the configuration as it was last read; the log names them.",
	}, []string{"source"})
	m.registry.MustRegister(m.lookups, m.configurationReads, m.configurationEntries, m.configurationProblems)
	m.registry.MustRegister(m.reference.all()...)
	return m
}

// newMetricsOf are those of every server of hooks.
func newMetricsOf(names metricNames, reviews string, labels ...string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(), names: names,
		admissions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: names.admissions, Help: reviews}, labels),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    names.seconds,
			Help:    "Time from a review's arrival to its answer.",
			Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .1, .5, 1, 2.5},
		}),
		displaced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: names.displaced,
			Help: "Connections that were closed because the limit of connections was reached, or because their large reviews did not arrive.",
		}),
	}
	m.registry.MustRegister(m.admissions, m.seconds, m.displaced, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// gauge adds a number that is asked for at the time of a scrape.
func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// watch adds what is known of the server's state.
func (m *metrics) watch(known accounts, serving *certificate) {
	m.gauge(m.names.synced, "1 if the ServiceAccounts have been read, else 0.", func() float64 { return oneIf(known.synced()) })
	m.watchCertificate(serving)
}

// watchCertificate adds when the serving certificate expires.
func (m *metrics) watchCertificate(serving *certificate) {
	m.gauge(m.names.expiry, "When the serving certificate expires, in seconds since 1970; 0 without one.", func() float64 {
		if loaded := serving.current.Load(); loaded != nil {
			return float64(loaded.Leaf.NotAfter.Unix())
		}
		return 0
	})
}

// watchDoor adds what is known of connections.
func (m *metrics) watchDoor(d *door) {
	m.gauge(m.names.connections, "Connections to the HTTPS listener that have shown no client certificate.", func() float64 {
		anybody, _ := d.held()
		return float64(anybody)
	})
	m.gauge(m.names.known, "Connections to the HTTPS listener that have shown a client certificate.", func() float64 {
		_, known := d.held()
		return float64(known)
	})
}

// watchStore adds what is known of the ServiceAccounts.
func (m *metrics) watchStore(known *store) {
	m.gauge("tabard_webhook_service_accounts", "ServiceAccounts in the cache.", func() float64 { return float64(known.holding().accounts) })
	m.gauge("tabard_webhook_service_accounts_opted_in", "ServiceAccounts in the cache that name an identity.", func() float64 { return float64(known.holding().optedIn) })
	m.gauge("tabard_webhook_service_accounts_too_long", "ServiceAccounts whose annotations are longer than the webhook caches; their pods get no identity.", func() float64 { return float64(known.holding().tooLong) })
	m.gauge("tabard_webhook_watching", "1 while a watch of ServiceAccounts is open, else 0.", func() float64 { return oneIf(known.holding().watched) })
	m.gauge("tabard_webhook_last_event_seconds", "When the API server last sent an event of ServiceAccounts, in seconds since 1970; 0 if never. It sends one about once a minute, also when nothing changes.", func() float64 {
		if last := known.holding().lastEvent; !last.IsZero() {
			return float64(last.Unix())
		}
		return 0
	})
	m.gauge("pod_identity_webhook_used", "1 once ServiceAccounts have been seen, else 0.", func() float64 { return oneIf(!known.holding().lastEvent.IsZero()) })
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func (m *metrics) admission(cloud string, found verdict, took time.Duration) {
	outcome := found.outcome()
	m.admissions.WithLabelValues(cloud, outcome, string(found.Reason)).Inc()
	m.seconds.Observe(took.Seconds())
	if cloud != cloudAWS {
		return // the others are of EKS's webhook
	}
	if found.Method != inject.NoMethod && (outcome == injected || outcome == unchanged) {
		m.reference.pods.WithLabelValues(string(found.Method)).Inc()
	}
	if found.Reason == inject.UnknownServiceAccount {
		m.reference.missing.Inc()
	}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// referenceMetrics have the names and meanings of EKS's pod identity webhook's,
// for dashboards and alerts that exist.
type referenceMetrics struct {
	requests  *prometheus.CounterVec
	latencies *prometheus.HistogramVec
	durations *prometheus.SummaryVec
	pods      *prometheus.CounterVec
	missing   prometheus.Counter
}

func newReferenceMetrics() referenceMetrics {
	return referenceMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_request_count", Help: "Requests, by method, path and status.",
		}, []string{"verb", "path", "code"}),
		latencies: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_request_latencies", Help: "Time of requests in microseconds, by method and path.",
			// The first are ours: nearly all requests end within a millisecond.
			Buckets: []float64{50, 100, 250, 500, 1000, 5000, 25_000, 125_000, 250_000, 500_000, 1e6, 2e6, 4e6, 8e6},
		}, []string{"verb", "path"}),
		durations: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "http_request_duration_microseconds", Help: "Time of requests in microseconds, by method and path.",
		}, []string{"verb", "path"}),
		pods: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pod_identity_webhook_pod_count", Help: "Pods that have opted in, by method.",
		}, []string{"method"}),
		missing: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pod_identity_webhook_missing_sa_count", Help: "Pods whose ServiceAccount does not exist.",
		}),
	}
}

func (r referenceMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{r.requests, r.latencies, r.durations, r.pods, r.missing}
}

// instrument measures a handler under one path. Methods that nobody uses count
// as one, so that a client cannot make metrics.
func (r referenceMetrics) instrument(path string, next http.Handler) http.Handler {
	latencies, durations := map[string]prometheus.Observer{}, map[string]prometheus.Observer{}
	for _, verb := range []string{http.MethodPost, otherVerb} {
		latencies[verb], durations[verb] = r.latencies.WithLabelValues(verb, path), r.durations.WithLabelValues(verb, path)
	}
	fine := r.requests.WithLabelValues(http.MethodPost, path, "200")
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		start := time.Now()
		watched := &statusWriter{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(watched, request)
		verb := request.Method
		if verb != http.MethodPost {
			verb = otherVerb
		}
		took := float64(time.Since(start).Microseconds())
		latencies[verb].Observe(took)
		durations[verb].Observe(took)
		if verb == http.MethodPost && watched.code == http.StatusOK {
			fine.Inc()
			return
		}
		r.requests.WithLabelValues(verb, path, strconv.Itoa(watched.code)).Inc()
	})
}

// otherVerb stands for every method but POST.
const otherVerb = "OTHER"

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader remembers.
func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
