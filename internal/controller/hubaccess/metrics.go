package hubaccess

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// Metrics are those of the controller, beside those that all have. They are safe for concurrent use.
type Metrics struct{ managedIAM *prometheus.GaugeVec }

// NewMetrics makes the metrics and registers them. Nothing is known before the first look.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{managedIAM: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tabard_hubaccess_managed_iam",
		Help: "1 for what managed IAM is on the hub, 0 for the others: On, or the reason why the controller changes nothing in AWS.",
	}, []string{"reason"})}
	m.set("")
	registry.MustRegister(m.managedIAM)
	return m
}

// sharedMetrics are those that the manager serves; there is one manager a process.
var sharedMetrics = sync.OnceValue(func() *Metrics { return NewMetrics(metrics.Registry) })

// now takes over what was learned of the hub.
func (m *Metrics) now(setting hub.Setting) {
	switch {
	case setting.ByOCM:
		m.set(string(core.ReasonActedOnByOCM))
	case setting.IAM == hub.On:
		m.set(string(hub.On))
	case setting.IAM == hub.Off:
		m.set(string(core.ReasonManagedIAMDisabled))
	default:
		m.set(string(core.ReasonManagedIAMUnknown))
	}
}

func (m *Metrics) set(reason string) {
	for _, each := range []string{string(hub.On), string(core.ReasonActedOnByOCM), string(core.ReasonManagedIAMDisabled), string(core.ReasonManagedIAMUnknown)} {
		value := 0.0
		if each == reason {
			value = 1
		}
		m.managedIAM.WithLabelValues(each).Set(value)
	}
}
