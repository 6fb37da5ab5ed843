package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/outage"
	"github.com/tabard-dev/tabard/internal/testkit/worked"
)

// TestAnHourOfThrottling has AWS throttle steps, by what the decision makes of it, and by
// whether the passes between two tries wait for a look limit.
func TestAnHourOfThrottling(t *testing.T) {
	tests := map[string]struct {
		// again is the time that the decision chooses, limit the shortest between two looks.
		again, limit time.Duration
	}{
		"the decision leaves it to the backoff":      {0, 0},
		"the decision chooses a time":                {30 * time.Second, 0},
		"the decision chooses longer than may be":    {time.Hour, 0},
		"a look limit makes passes wait in between":  {0, 2 * time.Second},
		"a look limit that is longer than a backoff": {0, 45 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			outage.Check(t, func(aws *outage.AWS) outage.Paced[reconcile.Request] {
				metrics := controller.NewMetrics(prometheus.NewRegistry(), "widget")
				var looked time.Time
				return controller.Measured(metrics, reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
					if wait := test.limit - time.Since(looked); wait > 0 {
						return reconcile.Result{}, controller.Wait(wait)
					}
					looked = time.Now()
					outcome := controller.Perform(ctx, metrics, controller.Work[any]{
						Steps: []any{drop{}}, Again: time.Hour,
						Do:   func(context.Context, any) error { return aws.Call() },
						Tell: func(any, fault.Fault) time.Duration { return test.again },
					})
					return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
				}))
			})
		})
	}
}

// TestAnHourOfThrottlingOfTheWorkedExample has the decision of the worked example.
func TestAnHourOfThrottlingOfTheWorkedExample(t *testing.T) {
	for name, step := range map[string]worked.Step{"making": worked.Make{}, "removing": worked.Remove{}} {
		t.Run(name, func(t *testing.T) {
			outage.Check(t, func(aws *outage.AWS) outage.Paced[reconcile.Request] {
				metrics := controller.NewMetrics(prometheus.NewRegistry(), "mailbox")
				return controller.Measured(metrics, reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
					world := worked.World{Mailbox: &worked.Mailbox{}, Now: time.Now()}
					plan := worked.Decide(world)
					outcome := controller.Perform(ctx, metrics, controller.Work[worked.Step]{
						Steps: []worked.Step{step}, Again: plan.Again,
						Do: func(context.Context, worked.Step) error { return aws.Call() },
						Tell: func(_ worked.Step, f fault.Fault) time.Duration {
							plan = worked.Failed(plan, f, world)
							return plan.Again
						},
					})
					return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
				}))
			})
		})
	}
}

// TestOnlyAGoodPassEndsTheBackoff: neither the queue, nor a pass that waits, nor somebody
// who writes in between makes failures forgotten, or counts as one.
func TestOnlyAGoodPassEndsTheBackoff(t *testing.T) {
	metrics := controller.NewMetrics(prometheus.NewRegistry(), "widget")
	var ends error
	passes := controller.Measured(metrics, reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{RequeueAfter: 3 * time.Second}, ends
	}))
	key := reconcile.Request{}
	steps := []struct {
		name   string
		err    error
		result time.Duration
		// tries is how many have failed then; 0 is that the next would be the first.
		tries int
	}{
		{"it fails", errDown, 0, 1},
		{"it fails again", errDown, 0, 2},
		{"it waits", controller.Wait(time.Minute), time.Minute, 2},
		{"somebody wrote in between", errMoved, time.Second, 2},
		{"it fails a third time", errDown, 0, 3},
		{"it ends well", nil, 3 * time.Second, 0},
		{"it fails anew", errDown, 0, 1},
	}
	for _, step := range steps {
		ends = step.err
		result, err := passes.Reconcile(t.Context(), key)
		if result.RequeueAfter != step.result {
			t.Errorf("%s: it is made again after %s, want %s", step.name, result.RequeueAfter, step.result)
		}
		if err != nil {
			passes.When(key)
		} else {
			passes.Forget(key)
		}
		if got := passes.NumRequeues(key); got != step.tries {
			t.Errorf("%s: %d passes have failed, want %d", step.name, got, step.tries)
		}
	}
}

// TestBackoffGrows from the decision's time to a minute.
func TestBackoffGrows(t *testing.T) {
	metrics := controller.NewMetrics(prometheus.NewRegistry(), "widget")
	passes := controller.Measured(metrics, reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{RequeueAfter: 5 * time.Second}, errDown
	}))
	for i, want := range []time.Duration{5, 5, 5, 8, 16, 32, 60, 60, 60} {
		_, _ = passes.Reconcile(t.Context(), reconcile.Request{})
		if got := passes.When(reconcile.Request{}); got != want*time.Second {
			t.Errorf("try %d comes after %s, want %ds", i+1, got, want)
		}
	}
}
