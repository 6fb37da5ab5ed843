package issuer_test

import (
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/alerts"
)

// TestAlertsNameWhatIsServed has an issuer that dies, which has all conditions.
func TestAlertsNameWhatIsServed(t *testing.T) {
	d := newDeath(t)
	d.trusted[testAccount] = []string{"app"}
	d.live(t, time.Minute)
	if found := alerts.Check(t, "../../../config/alerts/issuer.yaml", "../../../docs/oidc-issuer.md", d.registry); len(found) < 7 {
		t.Errorf("%d alerts were read, expected all of them", len(found))
	}
}
