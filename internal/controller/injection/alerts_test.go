package injection

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tabard-dev/tabard/internal/testkit/alerts"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAlertsNameWhatIsServed has a pass that has found a pod.
func TestAlertsNameWhatIsServed(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	must.Do(t, m.Pass(Name, func() error {
		m.found(map[string]int{"shop": 1}, func(string) bool { return true })
		return nil
	}))
	alerts.Check(t, "../../../config/alerts/injection.yaml", "../../../docs/webhook.md", registry)
}
