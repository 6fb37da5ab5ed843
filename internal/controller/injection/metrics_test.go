package injection

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	core "github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	there := func(name string) bool { return name != "gone" }
	m.found(map[string]int{"shop": 2, "gone": 1}, there)
	m.found(map[string]int{"other": 1}, there)
	if diff := cmp.Diff(map[string]float64{"shop": 0, "other": 1}, seriesOf(t, registry)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	for round := range 5 { // each has other namespaces
		counts := map[string]int{core.OtherNamespaces: 3}
		for i := range core.MaxNamespaces {
			counts[fmt.Sprintf("n%d-%d", round, i)] = 1
		}
		m.found(counts, there)
		if got := len(seriesOf(t, registry)); got > 2*(core.MaxNamespaces+2) {
			t.Fatalf("%d series in round %d", got, round)
		}
	}
}

func seriesOf(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families := must.Get(registry.Gather())(t)
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "tabard_injection_pods_without_identity" {
			continue // of every controller
		}
		for _, series := range family.GetMetric() {
			found[series.GetLabel()[0].GetValue()] = series.GetGauge().GetValue()
		}
	}
	return found
}
