package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// bed is the kit on a fake API server, with one object.
type bed struct {
	controller.Kit
	registry *prometheus.Registry
	// owners are the field managers of the writes.
	owners []string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Do(t, v1alpha1.AddToScheme(scheme))
	b := &bed{registry: prometheus.NewRegistry()}
	object := &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "main", Generation: 1}}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			var all client.PatchOptions
			b.owners = append(b.owners, all.ApplyOptions(options).FieldManager)
			return c.Patch(ctx, o, patch, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, _ string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			var all client.SubResourcePatchOptions
			b.owners = append(b.owners, all.ApplyOptions(options).FieldManager)
			return c.Status().Patch(ctx, o, patch, options...)
		},
	}).Build()
	b.Kit = controller.Kit{
		Client: server, Live: server, Events: events.NewFakeRecorder(100),
		Finalizer: "example.org/kept", Owner: "tabard.widget", Metrics: controller.NewMetrics(b.registry, "widget"),
	}
	return b
}

func (b *bed) get(t *testing.T) *v1alpha1.OIDCIssuer {
	t.Helper()
	stored := &v1alpha1.OIDCIssuer{}
	must.Do(t, b.Live.Get(t.Context(), client.ObjectKey{Name: "main"}, stored))
	return stored
}

// ready is a status with the condition Ready.
func ready(v condition.Verdict) func(*v1alpha1.OIDCIssuer) {
	return func(o *v1alpha1.OIDCIssuer) {
		o.Status.Conditions = condition.List(o.Status.Conditions, o.Generation, time.Now(), condition.Named{Type: "Ready", Verdict: v})
	}
}

// TestKeeperHoldsRecordsAndReleases writes with one reading, while somebody else
// changes annotations in between: each write goes on from the one before.
func TestKeeperHoldsRecordsAndReleases(t *testing.T) {
	b := newBed(t)
	keeper := controller.Keep(b.Kit, b.get(t))
	disturb := func() {
		stored := b.get(t)
		stored.Annotations = map[string]string{"example.org/beat": stored.ResourceVersion}
		must.Do(t, b.Client.Update(t.Context(), stored))
	}
	disturb()
	must.Do(t, keeper.Hold(t.Context()))
	disturb()
	must.Do(t, keeper.Record(t.Context(), ready(condition.No("Bad", "so"))))
	stored := b.get(t)
	if !slices.Equal(stored.Finalizers, []string{"example.org/kept"}) || len(stored.Status.Conditions) != 1 || stored.Annotations == nil {
		t.Errorf("stored is %+v", stored)
	}
	before := len(b.owners)
	if err := keeper.Record(t.Context(), ready(condition.No("Bad", "so"))); err != nil || len(b.owners) != before {
		t.Errorf("a status that says the same was written, or failed: %v", err)
	}
	disturb()
	must.Do(t, keeper.Release(t.Context()))
	if stored = b.get(t); len(stored.Finalizers) != 0 || len(stored.Status.Conditions) != 1 {
		t.Errorf("stored is %+v", stored)
	}
	for _, owner := range b.owners {
		if owner != "tabard.widget" {
			t.Errorf("a write is by the field manager %q", owner)
		}
	}
}

// TestKeeperDoesNotOverwriteWhatThePassDidNotSee has the spec change under each write.
func TestKeeperDoesNotOverwriteWhatThePassDidNotSee(t *testing.T) {
	for name, write := range map[string]func(context.Context, *controller.Keeper[*v1alpha1.OIDCIssuer]) error{
		"the finalizer": func(ctx context.Context, k *controller.Keeper[*v1alpha1.OIDCIssuer]) error { return k.Hold(ctx) },
		"its removal":   func(ctx context.Context, k *controller.Keeper[*v1alpha1.OIDCIssuer]) error { return k.Release(ctx) },
		"the status": func(ctx context.Context, k *controller.Keeper[*v1alpha1.OIDCIssuer]) error {
			return k.Record(ctx, ready(condition.Yes("Fine", "")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			if name == "its removal" {
				must.Do(t, controller.Keep(b.Kit, b.get(t)).Hold(t.Context()))
			}
			keeper := controller.Keep(b.Kit, b.get(t))
			changed := b.get(t)
			changed.Spec.URL, changed.Generation = "https://other.example", 2
			must.Do(t, b.Client.Update(t.Context(), changed))
			if err := write(t.Context(), keeper); !apierrors.IsConflict(err) {
				t.Errorf("the write ended with %v, want a conflict", err)
			}
			if diff := cmp.Diff(changed, b.get(t)); diff != "" {
				t.Errorf("the object was changed (-before +after):\n%s", diff)
			}
		})
	}
}

var (
	passing  = fault.Fault{Class: fault.Throttled, Service: "S3", Operation: "PutObject"}
	lasting  = fault.Fault{Class: fault.Denied, Service: "S3", Operation: "PutObject"}
	resource = schema.GroupResource{Resource: "widgets"}
	errMoved = apierrors.NewConflict(resource, "main", errors.New("it has changed"))
	errOwned = apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec"}}, "owned by another")
	errDown  = errors.New("connection refused")
)

// put and drop are steps.
type (
	put  struct{ name string }
	drop struct{}
)

// TestPerform tells what comes of a pass, by how its second step of three ends.
func TestPerform(t *testing.T) {
	const again, blocked = time.Hour, time.Minute
	tests := map[string]struct {
		err    error
		made   int
		told   bool
		result reconcile.Result
		fails  error
		steps  string
	}{
		"all succeed":                          {nil, 3, false, reconcile.Result{RequeueAfter: again}, nil, "drop done 1, put done 2"},
		"a fault that may pass is tried again": {fmt.Errorf("put: %w", passing), 2, true, reconcile.Result{}, passing, "drop retry 1, put done 1"},
		"a person must act":                    {lasting, 2, true, reconcile.Result{RequeueAfter: blocked}, nil, "drop blocked 1, put done 1"},
		"the API server fails":                 {errDown, 2, false, reconcile.Result{}, errDown, "drop error 1, put done 1"},
		"somebody wrote in between":            {fmt.Errorf("patch: %w", errMoved), 2, false, reconcile.Result{RequeueAfter: time.Second}, nil, "drop conflict 1, put done 1"},
		"somebody made it in between":          {apierrors.NewAlreadyExists(resource, "main"), 2, false, reconcile.Result{RequeueAfter: time.Second}, nil, "drop conflict 1, put done 1"},
		"another manager owns the field":       {errOwned, 2, false, reconcile.Result{}, errOwned, "drop error 1, put done 1"},
		"nobody knows the step":                {controller.UnknownStep(drop{}), 2, false, reconcile.Result{}, reconcile.TerminalError(nil), "drop bug 1, put done 1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			made, told := 0, false
			pass := controller.Measured(b.Metrics, reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				outcome := controller.Perform(ctx, b.Metrics, controller.Work[any]{
					Steps: []any{put{"a"}, drop{}, put{"b"}}, Again: again,
					Do: func(_ context.Context, step any) error {
						if made++; step == (drop{}) {
							return test.err
						}
						return nil
					},
					Tell: func(step any, f fault.Fault) time.Duration {
						told = step == drop{} && errors.As(test.err, &f)
						return blocked
					},
				})
				return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
			}))
			result, err := pass.Reconcile(t.Context(), reconcile.Request{})
			if result != test.result || !errors.Is(err, test.fails) || (err == nil) != (test.fails == nil) {
				t.Errorf("it ended with %+v, %v, want %+v, %v", result, err, test.result, test.fails)
			}
			if next := pass.When(reconcile.Request{}); test.told && test.fails != nil && next != blocked {
				t.Errorf("it is made again after %s, want the decision's %s", next, blocked)
			}
			if made != test.made || told != test.told {
				t.Errorf("%d steps were made, told %t, want %d, %t", made, told, test.made, test.told)
			}
			if got := strings.Join(b.series(t, "tabard_controller_steps_total"), ", "); got != test.steps {
				t.Errorf("steps are counted as %q, want %q", got, test.steps)
			}
		})
	}
}

func metaNamed(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
