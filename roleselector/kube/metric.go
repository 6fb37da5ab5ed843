package kube

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/roleselector"
)

// The metrics of the process, which the manager serves. Kinds are those that the
// controllers name, so that there are few.
var (
	decisions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tabard_role_selector_decisions_total",
		Help: "Decisions that reconciles have asked for, by their outcome.",
	}, []string{"kind", "outcome"})
	conflicts = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "ack_iam_role_selector_conflicts",
		Help: "Resources that several IAMRoleSelectors select and nothing decides between.",
	}, []string{"kind"})
	waveSizes = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "tabard_role_selector_wave_resources",
		Help:    "Resources that one change of a selector, a choice or a namespace has woken.",
		Buckets: []float64{0, 1, 10, 100, 1000, 10000, 100000},
	})
	sourceReady = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tabard_role_selector_source_ready",
		Help: "Whether what decisions are made from has been read: 1, or 0, and then nothing is decided.",
	}, []string{"resource"})
)

func init() { metrics.Registry.MustRegister(decisions, conflicts, waveSizes, sourceReady) }

// announce makes a kind's series, so that they are there before they change.
func announce(kind schema.GroupVersionKind) {
	conflicts.WithLabelValues(kindLabel(kind))
	for _, outcome := range []roleselector.Outcome{
		roleselector.Use, roleselector.Conflict, roleselector.Denied,
		roleselector.Invalid, roleselector.NotYetKnown, roleselector.NoSelector,
	} {
		decisions.WithLabelValues(kindLabel(kind), string(outcome))
	}
}

func kindLabel(kind schema.GroupVersionKind) string { return kind.GroupKind().String() }
