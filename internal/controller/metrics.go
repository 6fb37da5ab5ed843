package controller

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Metrics are those that every controller has, with its name as the label controller.
// They hold one small entry for each object that exists. They are safe for concurrent
// use.
type Metrics struct {
	steps      *prometheus.CounterVec
	seconds    prometheus.Histogram
	conditions *prometheus.Desc
	good       *prometheus.Desc

	mu      sync.Mutex
	objects map[any]*seen
}

// seen is what is known of one object.
type seen struct {
	// good is when the last good pass ended; before there was one, when the first began.
	good time.Time
	// conditions are those of the last pass, by type.
	conditions map[string]metav1.ConditionStatus
}

// NewMetrics makes the metrics of the controller of a name and registers them.
func NewMetrics(registry prometheus.Registerer, name string) *Metrics {
	label := prometheus.Labels{"controller": name}
	m := &Metrics{
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabard_controller_steps_total", ConstLabels: label,
			Help: "Steps that the controller made, by result: done, retry (a fault of the cloud that may pass), blocked (an administrator must act), conflict (another client changed the object in between), error (of the API server), bug.",
		}, []string{"step", "result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tabard_controller_pass_seconds", ConstLabels: label,
			Help:    "How long it took to reconcile one object; or all of them, for a controller that checks all objects at intervals.",
			Buckets: []float64{.005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		conditions: prometheus.NewDesc("tabard_controller_conditions",
			"How many of the controller's objects have the condition with the status.", []string{"condition", "status"}, label),
		good: prometheus.NewDesc("tabard_controller_last_good_pass_timestamp_seconds",
			"When the object that has waited longest was last looked at without an error, in seconds since 1970; nothing without objects.", nil, label),
		objects: map[any]*seen{},
	}
	registry.MustRegister(m)
	return m
}

var shared = struct {
	mu sync.Mutex
	of map[string]*Metrics
}{of: map[string]*Metrics{}}

// MetricsOf are those that the manager serves of the controller of a name; there is
// one manager a process.
func MetricsOf(name string) *Metrics {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.of[name] == nil {
		shared.of[name] = NewMetrics(metrics.Registry, name)
	}
	return shared.of[name]
}

// Pass measures one look at the object of a key. It is a good one if look returns nil.
func (m *Metrics) Pass(key any, look func() error) error {
	start := time.Now()
	m.begin(key, start)
	err := look()
	m.seconds.Observe(time.Since(start).Seconds())
	if err == nil {
		m.note(key, func(s *seen) { s.good = time.Now() })
	}
	return err
}

// begin notes an object that was not known.
func (m *Metrics) begin(key any, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects[key] == nil {
		m.objects[key] = &seen{good: now}
	}
}

// note changes what is known of an object. One that was forgotten since its pass began
// stays so.
func (m *Metrics) note(key any, change func(*seen)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.objects[key]; known != nil {
		change(known)
	}
}

// Found takes over the conditions of the object of a key. Finish does it for passes
// whose key is the object's own.
func (m *Metrics) Found(key any, conditions []metav1.Condition) {
	now := make(map[string]metav1.ConditionStatus, len(conditions))
	for _, c := range conditions {
		now[c.Type] = c.Status
	}
	m.note(key, func(s *seen) { s.conditions = now })
}

// Forget drops what is known of an object that is gone.
func (m *Metrics) Forget(key any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
}

// ForgetAll drops what is known of all objects.
func (m *Metrics) ForgetAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.objects)
}

// Made counts a step by its type's name, or by itself if it is a text, and by how it
// ended.
func (m *Metrics) Made(step any, err error) {
	name, is := step.(string)
	if !is {
		name = fmt.Sprintf("%T", step)
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	m.steps.WithLabelValues(name, resultOf(err)).Inc()
}

func resultOf(err error) string {
	known, isFault := errors.AsType[fault.Fault](err)
	switch {
	case err == nil:
		return "done"
	case isFault && known.Passing():
		return "retry"
	case isFault:
		return "blocked"
	case IsOutdated(err):
		return "conflict"
	case errors.Is(err, reconcile.TerminalError(nil)):
		return "bug"
	}
	return "error"
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(into chan<- *prometheus.Desc) {
	m.steps.Describe(into)
	m.seconds.Describe(into)
	into <- m.conditions
	into <- m.good
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(into chan<- prometheus.Metric) {
	m.steps.Collect(into)
	m.seconds.Collect(into)
	counts, oldest := m.count()
	for kind, of := range counts {
		for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
			into <- prometheus.MustNewConstMetric(m.conditions, prometheus.GaugeValue, of[status], kind, string(status))
		}
	}
	if !oldest.IsZero() {
		into <- prometheus.MustNewConstMetric(m.good, prometheus.GaugeValue, float64(oldest.UnixMilli())/1000)
	}
}

// count counts conditions by type and status, and finds the object that has waited
// longest for a good pass.
func (m *Metrics) count() (counts map[string]map[metav1.ConditionStatus]float64, oldest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts = map[string]map[metav1.ConditionStatus]float64{}
	for _, object := range m.objects {
		if oldest.IsZero() || object.good.Before(oldest) {
			oldest = object.good
		}
		for kind, status := range object.conditions {
			if counts[kind] == nil {
				counts[kind] = map[metav1.ConditionStatus]float64{}
			}
			counts[kind][status]++
		}
	}
	return counts, oldest
}
