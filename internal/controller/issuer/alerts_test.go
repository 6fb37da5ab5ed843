package issuer_test

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/testkit/alerts"
	"github.com/tabard-dev/tabard/internal/testkit/must"
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

// TestTheAlertOfAnIssuerThatIsNotReconciledFires by its expression, and not while passes
// end well: an object whose passes fail or that nobody looks at again hides behind no other.
func TestTheAlertOfAnIssuerThatIsNotReconciledFires(t *testing.T) {
	text := string(must.Get(os.ReadFile("../../../config/alerts/issuer.yaml"))(t))
	found := regexp.MustCompile(`expr: time\(\) - max\((\w+)\{controller="issuer"\}\) > (\d+)\n`).FindStringSubmatch(text)
	if found == nil {
		t.Fatal("no alert asks how long ago the last good pass was")
	}
	limit := time.Duration(must.Get(strconv.Atoi(found[2]))(t)) * time.Second
	for name, test := range map[string]struct {
		look  func(*controller.Metrics)
		fires bool
	}{
		"all passes end well":      {func(m *controller.Metrics) { pass(m, "a", nil); pass(m, "b", nil) }, false},
		"the passes of one fail":   {func(m *controller.Metrics) { pass(m, "a", errors.New("down")); pass(m, "b", nil) }, true},
		"nobody looks at one":      {func(m *controller.Metrics) { pass(m, "b", nil) }, true},
		"nobody looks at anything": {func(*controller.Metrics) {}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			metrics := controller.NewMetrics(registry, "issuer")
			pass(metrics, "a", nil)
			pass(metrics, "b", nil)
			for range 11 {
				<-time.After(time.Minute)
				test.look(metrics)
			}
			at := gauge(t, registry, found[1])
			if got := time.Since(at) > limit; got != test.fires {
				t.Errorf("%s: after eleven minutes the last good pass was at %s; the alert fires: %t, want %t", name, at, got, test.fires)
			}
		})
	}
}

// pass is one that ends so.
func pass(m *controller.Metrics, object string, err error) {
	_ = m.Pass(object, func() error { return err })
}

// gauge is the one value of a metric, as a time.
func gauge(t *testing.T, registry *prometheus.Registry, name string) time.Time {
	t.Helper()
	for _, family := range must.Get(registry.Gather())(t) {
		if family.GetName() == name && len(family.GetMetric()) == 1 {
			return time.UnixMilli(int64(family.GetMetric()[0].GetGauge().GetValue() * 1000))
		}
	}
	t.Fatalf("%s is not served once", name)
	return time.Time{}
}
