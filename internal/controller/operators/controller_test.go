package operators_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/controller/operators"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/testkit"
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

// TestAClusterWithoutOLM: the controller has nothing to do, and finds the kinds when they come.
func TestAClusterWithoutOLM(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	w := &world{Cluster: testkit.StartCluster(t, testkit.ClusterOptions{}), roles: map[string]sufficiency.Documents{}}
	w.namespace = w.NewNamespace()
	grant(w.Cluster)
	w.run(t)
	w.InstallForeign(t, testkit.OLM)
	w.subscribe("p", "")
	w.patchStatus("subscriptions", "p", `{"status":{"currentCSV":"p.v1","lastUpdated":"2026-01-31T12:00:00Z"}}`)
	w.create("v1alpha1", "InstallPlan", "a", map[string]any{"approval": "Manual", "approved": false, "clusterServiceVersionNames": []any{"p.v1"}})
	w.patchStatus("installplans", "a", `{"status":{"phase":"RequiresApproval","plan":[],"catalogSources":[]}}`)
	w.awaitVerdict("a", operator.VerdictUnknown)
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

// TestWhatIsNotJudged: a plan that is approved, and one of which a person has overridden the check,
// stay as they are. What was written by hand and is no check is written over.
func TestWhatIsNotJudged(t *testing.T) {
	w := begin(t)
	w.allow(roleARN, "s3:GetObject")
	plan := w.upgrade()
	const overridden = "Overridden - 2026-01-31T12:00:00Z"
	w.patch("installplans", plan, `{"metadata":{"annotations":{"operators.tabard.dev/permission-check":"`+overridden+`"}}}`)
	approved := w.plan("p.v1.0.0")
	w.run(t)
	w.awaitGauge(operator.VerdictOverridden, 1)
	w.settle()
	if now := w.noted(plan); now != overridden {
		t.Errorf("what a person has overridden is %q now", now)
	}
	if now := w.noted(approved); now != "" {
		t.Errorf("a plan that was approved before is %q now", now)
	}
	w.awaitEvents(nil)
	w.patch("installplans", plan, `{"metadata":{"annotations":{"operators.tabard.dev/permission-check":"Overridden by me"}}}`)
	w.awaitVerdict(plan, operator.VerdictMissing)
	w.awaitEvents(map[string]int{operator.ReasonMissing: 1})
}

// TestARoleThatCannotBeRead leaves the verdict unknown, with the reason.
func TestARoleThatCannotBeRead(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world, *operators.Options)
		want   string
	}{
		"no identity": {func(_ *world, o *operators.Options) { o.Roles, o.WithoutRoles = nil, "the controller has no identity" }, "the role's policies were not read: the controller has no identity"},
		"an error":    {func(*world, *operators.Options) {}, "the role's policies were not read: AWS has no such role"},
		"another role": {func(w *world, _ *operators.Options) {
			w.allow("arn:aws:iam::111122223333:role/other", "s3:*")
			w.roles[roleARN] = w.roles["arn:aws:iam::111122223333:role/other"]
		}, "what was read is of"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t)
			w.run(t, func(o *operators.Options) { test.change(w, o) })
			w.awaitVerdict(w.upgrade(), operator.VerdictUnknown)
			w.Await(func() error {
				for _, said := range w.events(operator.ReasonUnknown) {
					if strings.Contains(said.Note, "p.v1.1.0") && strings.Contains(said.Note, test.want) && said.Type == "Warning" {
						return nil
					}
				}
				return fmt.Errorf("no event says %q: %v", test.want, w.events(operator.ReasonUnknown))
			})
			if all := w.events(operator.ReasonOutOfSync); len(all) != 0 {
				t.Errorf("a role that is unknown is told to be out of sync: %v", all)
			}
		})
	}
}

// TestARoleThatIsNotEnoughForWhatIsInstalled is told once, also over a restart.
func TestARoleThatIsNotEnoughForWhatIsInstalled(t *testing.T) {
	w := begin(t)
	w.allow(roleARN, "s3:GetObject", "s3:PutObject")
	stop := w.run(t)
	w.patch("installplans", w.upgrade(), `{"spec":{"approved":true}}`)
	w.Await(func() error {
		found := must.Get(w.of("subscriptions").Get(w.Context(), "p", metav1.GetOptions{}))(w)
		if status, _ := found.Object["status"].(map[string]any); status["installedCSV"] != "p.v1.1.0" {
			return fmt.Errorf("the Subscription has %v", status)
		}
		return nil
	})
	w.settle()
	if all := w.events(operator.ReasonOutOfSync); len(all) != 0 {
		t.Errorf("a role that is enough is told to be out of sync: %v", all)
	}
	w.allow(roleARN, "s3:GetObject")
	told := func() {
		t.Helper()
		w.Await(func() error {
			if all := w.events(operator.ReasonOutOfSync); len(all) != 1 || all[0].Type != "Warning" || !strings.Contains(all[0].Note, "p.v1.1.0 is installed, and the role "+roleARN) {
				return fmt.Errorf("the events are %+v", all)
			}
			return nil
		})
	}
	told()
	w.settle()
	told()
	stop()
	w.run(t)
	w.settle()
	told()
}

// TestAPlanWithoutARole is NotToken, and one that is gone is counted no more.
func TestAPlanWithoutARole(t *testing.T) {
	w := begin(t)
	w.run(t)
	w.subscribe("q", "")
	w.awaitVerdict(w.plan("q.v1.0.0"), operator.VerdictNotToken)
	w.awaitGauge(operator.VerdictNotToken, 1)
	must.Do(t, w.of("subscriptions").Delete(w.Context(), "q", metav1.DeleteOptions{}))
	must.Do(t, w.of("installplans").DeleteCollection(w.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	w.awaitGauge(operator.VerdictNotToken, 0)
	if w.asked != 0 {
		t.Errorf("AWS was asked %d times for nothing", w.asked)
	}
}

// TestACrowdOfPlans: what one namespace holds is bounded work, and the plan that its Subscription
// refers to is judged all the same. A plan of a thousand versions is unknown.
func TestACrowdOfPlans(t *testing.T) {
	w := begin(t)
	w.allow(roleARN, "s3:GetObject")
	plan := w.upgrade()
	many := make([]any, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("x.v%d", i)
	}
	const crowd = 60
	for i := range crowd {
		w.create("v1alpha1", "InstallPlan", fmt.Sprintf("crowd-%d", i), map[string]any{"approval": "Manual", "approved": false, "clusterServiceVersionNames": many})
		w.patchStatus("installplans", fmt.Sprintf("crowd-%d", i), `{"status":{"phase":"RequiresApproval","catalogSources":[]}}`)
	}
	w.run(t)
	w.awaitVerdict(plan, operator.VerdictMissing)
	w.settle()
	judged := 0
	for i := range crowd {
		if text := w.noted(fmt.Sprintf("crowd-%d", i)); text != "" {
			judged++
			if !strings.HasPrefix(text, "Unknown - ") {
				t.Errorf("a plan of a thousand versions is %q", text)
			}
		}
	}
	if judged != operator.MostPlans-1 {
		t.Errorf("%d plans of the crowd were judged, want %d", judged, operator.MostPlans-1)
	}
}
