package operators_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/controller/operators"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheControllerIsAddedWithTheManagersMetrics, as the program adds it: other tests have
// a registry of their own.
func TestTheControllerIsAddedWithTheManagersMetrics(t *testing.T) {
	cluster := shared(t)
	mgr := must.Get(ctrl.NewManager(cluster.Config, ctrl.Options{
		Scheme: cluster.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	}))(t)
	must.Do(t, operators.Add(mgr, operators.Options{}))
}

// TestAWaitingPlanIsJudged from an upgrade for which the role is not enough to one for which it is.
func TestAWaitingPlanIsJudged(t *testing.T) {
	w := begin(t)
	w.allow(roleARN, "s3:GetObject")
	stop := w.run(t)
	plan := w.upgrade()
	missing := w.awaitVerdict(plan, operator.VerdictMissing)
	// The first plan was installed before or after it was judged.
	first := len(w.events(operator.ReasonSatisfied))
	w.awaitEvents(map[string]int{operator.ReasonMissing: 1, operator.ReasonSatisfied: first})
	w.awaitGauge(operator.VerdictMissing, 1)
	said := w.events(operator.ReasonMissing)[0]
	if said.Type != "Warning" || said.Regarding.Name != "p" || said.Regarding.UID == "" || !strings.Contains(said.Note, plan+" waits for an approval of p.v1.1.0: Missing: the role is not enough") {
		t.Errorf("the event is %+v", said)
	}

	w.settle()
	if now := w.noted(plan); now != missing {
		t.Errorf("nothing changed, and the annotation went from %q to %q", missing, now)
	}
	stop()
	stop = w.run(t)
	w.awaitGauge(operator.VerdictMissing, 1)
	w.settle()
	if now := w.noted(plan); now != missing {
		t.Errorf("after a restart the annotation went from %q to %q", missing, now)
	}
	w.awaitEvents(map[string]int{operator.ReasonMissing: 1, operator.ReasonSatisfied: first})

	w.allow(roleARN, "s3:GetObject", "s3:PutObject")
	w.awaitVerdict(plan, operator.VerdictSatisfied)
	w.awaitEvents(map[string]int{operator.ReasonMissing: 1, operator.ReasonSatisfied: first + 1})
	w.awaitGauge(operator.VerdictSatisfied, 1)
	if approved := w.approved(plan); approved {
		t.Error("the controller approved the plan")
	}
	stop()
	w.run(t)
	w.awaitGauge(operator.VerdictSatisfied, 1)
	w.settle()
	w.awaitEvents(map[string]int{operator.ReasonMissing: 1, operator.ReasonSatisfied: first + 1})

	must.Do(t, w.of("installplans").Delete(w.Context(), plan, metav1.DeleteOptions{}))
	w.Await(func() error {
		if _, err := w.of("installplans").Get(w.Context(), plan, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the plan is there: %w", errors.Join(err))
		}
		return nil
	})
}

// approved says whether a plan is.
func (w *world) approved(plan string) bool {
	w.Helper()
	spec, _ := must.Get(w.of("installplans").Get(w.Context(), plan, metav1.GetOptions{}))(w).Object["spec"].(map[string]any)
	return spec["approved"] == true
}
