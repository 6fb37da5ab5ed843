// Package metric counts in Prometheus what awsauth does. Labels have few values:
// methods, AWS's services, operations and error codes.
package metric

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aws/smithy-go"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
)

// Collector is an awsauth.Observer whose caller registers it.
type Collector struct {
	builds, refreshes, requests, throttles *prometheus.CounterVec
	expiry, method                         *prometheus.GaugeVec
	entries                                prometheus.Gauge
	displaced                              prometheus.Counter
	duration                               *prometheus.HistogramVec
}

var (
	_ awsauth.Observer     = (*Collector)(nil)
	_ prometheus.Collector = (*Collector)(nil)
)

// New makes a Collector. The namespace is the beginning of all names, such as
// "tabard" for tabard_aws_api_requests_total; empty for none.
func New(namespace string) *Collector {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, []string{"method"})
	}
	return &Collector{
		builds:    counter("aws_client_builds_total", "AWS configurations that were made.", "method", "result"),
		refreshes: counter("aws_credential_refresh_total", "Credentials that were fetched.", "method", "result", "code"),
		requests:  counter("aws_api_requests_total", "Requests to AWS, each attempt by itself.", "service", "operation", "code"),
		throttles: counter("aws_api_throttles_total", "Requests that AWS throttled.", "service", "operation"),
		expiry:    gauge("aws_credential_expiry_timestamp_seconds", "When the credentials that were fetched last expire."),
		method:    gauge("aws_auth_method_info", "How this process gets credentials; always 1."),
		entries: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "aws_client_cache_entries", Help: "AWS configurations in the cache.",
		}),
		displaced: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "aws_sessions_displaced_total",
			Help: "Valid credentials that were evicted, because more are in use than the cache holds.",
		}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "aws_api_request_duration_seconds", Help: "How long AWS took to answer a request.",
			Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}, []string{"service", "operation"}),
	}
}

func (c *Collector) all() []prometheus.Collector {
	return []prometheus.Collector{c.builds, c.refreshes, c.requests, c.throttles, c.expiry, c.method, c.entries, c.displaced, c.duration}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(into chan<- *prometheus.Desc) {
	for _, one := range c.all() {
		one.Describe(into)
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(into chan<- prometheus.Metric) {
	for _, one := range c.all() {
		one.Collect(into)
	}
}

// Built implements awsauth.Observer.
func (c *Collector) Built(method string, err error) {
	result := "success"
	var known smithy.APIError
	switch {
	case errors.As(err, &known):
		result = known.ErrorCode()
	case err != nil:
		result = "error"
	default:
		c.method.WithLabelValues(method).Set(1)
	}
	c.builds.WithLabelValues(method, result).Inc()
}

// Cached implements awsauth.Observer.
func (c *Collector) Cached(configurations int) { c.entries.Set(float64(configurations)) }

// Displaced implements awsauth.Observer.
func (c *Collector) Displaced() { c.displaced.Inc() }

// Refreshed implements awsauth.Observer.
func (c *Collector) Refreshed(method, code string, expires time.Time) {
	result := "success"
	if code != "" {
		result = "error"
	}
	c.refreshes.WithLabelValues(method, result, code).Inc()
	if !expires.IsZero() {
		c.expiry.WithLabelValues(method).Set(float64(expires.Unix()))
	}
}

// Called implements awsauth.Observer.
func (c *Collector) Called(service, operation, code string, took time.Duration) {
	c.requests.WithLabelValues(service, operation, code).Inc()
	c.duration.WithLabelValues(service, operation).Observe(took.Seconds())
	if fault.IsThrottle(code) {
		c.throttles.WithLabelValues(service, operation).Inc()
	}
}
