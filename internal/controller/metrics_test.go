package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// series are those of a metric: the values of its labels but the controller's, and its
// own.
func (b *bed) series(t *testing.T, name string) []string {
	t.Helper()
	families := must.Get(b.registry.Gather())(t)
	var out []string
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, one := range family.GetMetric() {
			text := map[string]string{}
			for _, label := range one.GetLabel() {
				text[label.GetName()] = label.GetValue() + " "
			}
			if text["controller"] != "widget " {
				t.Errorf("%s has the labels %v", name, one.GetLabel())
			}
			value := one.GetCounter().GetValue() + one.GetGauge().GetValue() + float64(one.GetHistogram().GetSampleCount())
			out = append(out, fmt.Sprintf("%s%s%s%s%g", text["step"], text["result"], text["condition"], text["status"], value))
		}
	}
	slices.Sort(out)
	return out
}

// typed is a controller that says one thing of each object.
type typed struct {
	controller.Kit
	says condition.Verdict
	err  error
}

func (c *typed) Reconcile(ctx context.Context, o *v1alpha1.OIDCIssuer) (reconcile.Result, error) {
	return controller.Keep(c.Kit, o).Finish(ctx, ready(c.says), controller.Outcome{Again: time.Hour, Err: c.err})
}

// TestObjectsAreCountedByTheirConditions follows two objects to the end of both.
func TestObjectsAreCountedByTheirConditions(t *testing.T) {
	b := newBed(t)
	must.Do(t, b.Client.Create(t.Context(), &v1alpha1.OIDCIssuer{ObjectMeta: metaNamed("second")}))
	look := func(name string, says condition.Verdict) {
		t.Helper()
		pass := controller.Typed(b.Kit, &typed{Kit: b.Kit, says: says})
		must.Get(pass.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}))(t)
	}
	want := func(what string, lines ...string) {
		t.Helper()
		if diff := cmp.Diff(lines, b.series(t, "tabard_controller_conditions")); diff != "" {
			t.Errorf("%s: conditions (-want +got):\n%s", what, diff)
		}
	}
	want("before any")
	look("main", condition.Yes("Fine", ""))
	look("second", condition.No("Bad", ""))
	want("two", "Ready False 1", "Ready True 1", "Ready Unknown 0")
	look("second", condition.Yes("Fine", ""))
	want("both well", "Ready False 0", "Ready True 2", "Ready Unknown 0")
	for i, name := range []string{"second", "main"} {
		must.Do(t, b.Client.Delete(t.Context(), &v1alpha1.OIDCIssuer{ObjectMeta: metaNamed(name)}))
		look(name, condition.Yes("Fine", ""))
		if i == 0 {
			want("one is gone", "Ready False 0", "Ready True 1", "Ready Unknown 0")
		}
	}
	want("both are gone")
	if got := b.series(t, "tabard_controller_last_good_pass_timestamp_seconds"); got != nil {
		t.Errorf("without objects the last good pass was at %v", got)
	}
	if got := b.series(t, "tabard_controller_pass_seconds"); !slices.Equal(got, []string{"5"}) {
		t.Errorf("%v passes were measured, want 5", got)
	}
}

// TestTheLastGoodPassIsThatOfTheObjectThatHasWaitedLongest has one object fail, while
// another hides nothing of it.
func TestTheLastGoodPassIsThatOfTheObjectThatHasWaitedLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		b := &bed{registry: registry, Kit: controller.Kit{Metrics: controller.NewMetrics(registry, "widget")}}
		start := time.Now()
		look := func(key string, err error) {
			if got := b.Metrics.Pass(key, func() error { <-time.After(time.Second); return err }); !errors.Is(got, err) {
				t.Errorf("the pass ended with %v, want %v", got, err)
			}
		}
		want := func(what string, after time.Duration) {
			t.Helper()
			at := fmt.Sprintf("%g", float64(start.Add(after).UnixMilli())/1000)
			if got := b.series(t, "tabard_controller_last_good_pass_timestamp_seconds"); !slices.Equal(got, []string{at}) {
				t.Errorf("%s: it is %v, want %s", what, got, at)
			}
		}
		look("a", nil)
		want("one good pass", time.Second)
		look("b", errDown)
		want("another never had one", time.Second)
		look("a", nil)
		want("the other's first pass began then", time.Second)
		look("b", nil)
		want("both had one", 3*time.Second)
		look("b", errMoved)
		look("b", errDown)
		look("a", nil)
		want("b has failed since", 4*time.Second)
		b.Metrics.Forget("b")
		want("b is gone", 7*time.Second)
		_ = b.Metrics.Pass("a", func() error { b.Metrics.Forget("a"); return nil })
		if got := b.series(t, "tabard_controller_last_good_pass_timestamp_seconds"); got != nil {
			t.Errorf("an object that is gone since its pass began is known again: %v", got)
		}
	})
}

// TestSeriesDoNotGrowWithObjects has ten thousand of them.
func TestSeriesDoNotGrowWithObjects(t *testing.T) {
	b := newBed(t)
	for i := range 10000 {
		_ = b.Metrics.Pass(i, func() error { b.Metrics.Made(put{fmt.Sprint(i)}, nil); return nil })
	}
	families := must.Get(b.registry.Gather())(t)
	var names []string
	for _, family := range families {
		names = append(names, fmt.Sprintf("%s %d", family.GetName(), len(family.GetMetric())))
	}
	want := "tabard_controller_last_good_pass_timestamp_seconds 1, tabard_controller_pass_seconds 1, tabard_controller_steps_total 1"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("series are %s, want %s", got, want)
	}
}
