package hubaccess_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/alerts"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestAlertsNameWhatIsServed has a cluster that waits, and steps that AWS, the API server and
// the program itself refuse.
func TestAlertsNameWhatIsServed(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := controller.NewMetrics(registry, hubaccess.Name)
	hubaccess.NewMetrics(registry)
	m.Made(core.CreateRole{}, fault.Fault{Class: fault.Denied})
	m.Made(core.Hold{}, errors.New("refused"))
	m.Made(core.Release{}, controller.UnknownStep(nil))
	must.Do(t, m.Pass("cluster1", func() error {
		m.Found("cluster1", []metav1.Condition{{Type: core.TypeReady, Status: metav1.ConditionFalse}})
		return nil
	}))
	alerts.Check(t, "../../../config/alerts/hubaccess.yaml", "../../../docs/hub.md", registry)
}
