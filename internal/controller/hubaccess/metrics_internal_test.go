package hubaccess

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// noHub is a cluster without the kinds of Open Cluster Management.
type noHub struct{ client.Reader }

func (noHub) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return &meta.NoKindMatchError{}
}

// current are the reasons whose value is 1.
func current(t *testing.T, registry prometheus.Gatherer) map[string]bool {
	t.Helper()
	out, reasons := map[string]bool{}, 0
	for _, family := range must.Get(registry.Gather())(t) {
		for _, metric := range family.GetMetric() {
			if reasons++; metric.GetGauge().GetValue() == 1 {
				out[metric.GetLabel()[0].GetValue()] = true
			}
		}
	}
	if reasons != 4 {
		t.Errorf("there are %d reasons, expected 4", reasons)
	}
	return out
}

// TestTheMetricSaysWhatManagedIAMIs after a look at the hub, and what it is after the next.
func TestTheMetricSaysWhatManagedIAMIs(t *testing.T) {
	registry := prometheus.NewRegistry()
	now := time.Now()
	s := &settings{live: noHub{}, now: func() time.Time { return now }, metrics: NewMetrics(registry)}
	if got := current(t, registry); len(got) != 0 {
		t.Errorf("before the first look, it is %v", got)
	}
	for _, test := range []struct {
		flag hub.Switch
		want string
	}{{"", "ManagedIAMUnknown"}, {hub.Off, "ManagedIAMDisabled"}, {hub.On, "On"}, {"", "ManagedIAMUnknown"}} {
		s.flags.IAM = test.flag
		now = now.Add(time.Minute)
		s.get(t.Context())
		if got := current(t, registry); !maps.Equal(got, map[string]bool{test.want: true}) {
			t.Errorf("with the flag %q, it is %v, expected %s", test.flag, got, test.want)
		}
	}
	s.metrics.now(hub.Setting{IAM: hub.Off, ByOCM: true})
	if got := current(t, registry); !maps.Equal(got, map[string]bool{"ActedOnByOCM": true}) {
		t.Errorf("where Open Cluster Management makes the roles, it is %v", got)
	}
}
