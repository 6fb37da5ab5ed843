package capacity

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAStepThatNobodyKnowsIsTerminal: no repetition makes it known.
func TestAStepThatNobodyKnowsIsTerminal(t *testing.T) {
	err := (&run{Controller: &Controller{}}).write(t.Context(), &metav1.PartialObjectMetadata{}, nil)
	if !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("it ended with %v, want a terminal error", err)
	}
}

func TestTheCatalogueIsMeasured(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	ages := func() map[string]time.Duration { return map[string]time.Duration{"us-west-2": time.Minute} }
	m.catalogue.of.Store(&ages)
	m.fetched("us-west-2", nil)
	m.fetched("us-west-2", nil)
	m.fetched("us-west-2", errors.New("no"))
	families := must.Get(registry.Gather())(t)
	got := map[string][]float64{}
	for _, family := range families {
		for _, one := range family.GetMetric() {
			got[family.GetName()] = append(got[family.GetName()], one.GetGauge().GetValue()+one.GetCounter().GetValue())
		}
	}
	for name, want := range map[string][]float64{
		"tabard_capacity_catalogue_age_seconds":   {60},
		"tabard_capacity_catalogue_fetches_total": {1, 2},
	} {
		if slices.Sort(got[name]); !slices.Equal(got[name], want) {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}
