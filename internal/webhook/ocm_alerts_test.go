package webhook

import (
	"testing"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/testkit/alerts"
)

// TestTheAlertsOfHooksNameWhatIsServed by the webhook for Open Cluster Management.
func TestTheAlertsOfHooksNameWhatIsServed(t *testing.T) {
	s := newHooks(HookOptions{Prefix: "tabard_ocm_webhook"}, logr.Discard())
	for _, outcome := range []string{changed, failed, refused, unchanged} {
		s.metrics.admissions.WithLabelValues("pods", outcome)
	}
	alerts.Check(t, "../../config/alerts/ocm.yaml", "../../docs/hub.md", s.metrics.registry)
}
