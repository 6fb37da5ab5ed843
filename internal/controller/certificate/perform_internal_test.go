package certificate

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// strange is a step that the code does not know.
type strange struct{}

func (strange) String() string { return "Strange" }

// TestAStepThatNobodyKnowsIsTerminal: no repetition makes it known.
func TestAStepThatNobodyKnowsIsTerminal(t *testing.T) {
	c := &Controller{Metrics: NewMetrics(prometheus.NewRegistry())}
	outcome := controller.Perform(t.Context(), c.Metrics.Metrics, c.work(observation{}, core.Plan{Step: strange{}}))
	if !errors.Is(outcome.Err, reconcile.TerminalError(nil)) {
		t.Errorf("it ended with %v, want a terminal error", outcome.Err)
	}
}
