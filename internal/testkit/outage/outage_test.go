package outage

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestWrongTimesAreNoticed plants what the checker has to see: controller-runtime's own
// rate limiter, and a look limit that makes it forget.
func TestWrongTimesAreNoticed(t *testing.T) {
	tests := map[string]struct {
		// limit is the shortest time between two looks.
		limit time.Duration
		want  string
	}{
		"controller-runtime's own rate limiter": {0, "nothing is tried"},
		"a look limit that forgets":             {2 * time.Second, "tries until"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := wrong(run(t, func(aws *AWS) ctrlcontroller.TypedOptions[reconcile.Request] {
				var looked time.Time
				pass := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					if wait := test.limit - time.Since(looked); wait > 0 {
						return reconcile.Result{RequeueAfter: wait}, nil
					}
					looked = time.Now()
					return reconcile.Result{}, aws.Call()
				})
				return ctrlcontroller.TypedOptions[reconcile.Request]{
					Reconciler: pass, RateLimiter: workqueue.DefaultTypedControllerRateLimiter[reconcile.Request](),
				}
			}))
			if !strings.Contains(got, test.want) {
				t.Errorf("the checker says %q, want %q", got, test.want)
			}
		})
	}
}
