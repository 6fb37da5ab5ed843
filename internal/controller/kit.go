// Package controller is the kit that controllers are made of. Each controller is a
// package below this one, named by its noun, and is observe, decide, perform, report:
// the deciding is in internal/core, the rest is here but for what is the controller's
// own. Keeper holds the object, Perform makes the steps, Finish reports, and Metrics
// are the same for all.
//
// The typed reconciler is the usual shape: see Typed. A controller with a queue of its
// own has Measured, one that looks at everything in turns Metrics.Pass. What fails is made
// again at the time of Backoff, for all controllers.
package controller

import (
	"context"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Object is a kind whose conditions are a keyed list.
type Object interface {
	client.Object
	// GetConditions returns the stored conditions.
	GetConditions() []metav1.Condition
}

// Kit is what the passes of one controller share.
type Kit struct {
	// Client writes; Live reads past any cache, so that no pass works on a status older
	// than what the pass before it has written.
	Client client.Client
	Live   client.Reader
	// Events records one event for each condition that changed.
	Events events.EventRecorder
	// Finalizer holds an object while something of it may exist outside.
	Finalizer string
	// Owner is the field manager of all writes.
	Owner string
	// IgnoreStatus says that no decision goes by the objects' status, so that another
	// client that writes it keeps no pass from writing.
	IgnoreStatus bool
	// Longest is the longest time between two tries of what fails; 0 is a minute.
	Longest time.Duration
	// Metrics are the controller's.
	Metrics *Metrics
}

// NewKit is the kit of the controller of a name, in a manager.
func NewKit(mgr ctrl.Manager, name, finalizer string) Kit {
	return Kit{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("tabard-" + name),
		Finalizer: finalizer, Owner: "tabard." + name, Metrics: MetricsOf(name),
	}
}

// Typed makes paced passes of a reconciler that is given the object, read past the
// cache. One that is gone is forgotten.
func Typed[T Object](kit Kit, inner reconcile.ObjectReconciler[T]) *Paced[reconcile.Request] {
	passes := Measured(kit.Metrics, reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		object := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
		err := kit.Live.Get(ctx, request.NamespacedName, object)
		if apierrors.IsNotFound(err) {
			kit.Metrics.Forget(request)
			return reconcile.Result{}, nil
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		return inner.Reconcile(ctx, object)
	}))
	passes.Longest = kit.Longest
	return passes
}

// Paced are the passes of a controller: measured, and made again when their end says so.
// They are its reconciler and the rate limiter of its queue, so that no controller has one
// without the other.
type Paced[R comparable] struct {
	Backoff[R]
	metrics *Metrics
	inner   reconcile.TypedReconciler[R]
}

// Measured makes paced passes of a reconciler.
func Measured[R comparable](metrics *Metrics, inner reconcile.TypedReconciler[R]) *Paced[R] {
	return &Paced[R]{metrics: metrics, inner: inner}
}

// outdated is how soon a pass is made again that went by what somebody has changed
// since.
const outdated = time.Second

// Reconcile implements reconcile.TypedReconciler. A pass that ends with an error of
// IsOutdated is made again soon, without a line in the log: there is nothing wrong. The
// time that comes with another error is for Backoff: controller-runtime ignores it, and
// says so at every pass.
func (p *Paced[R]) Reconcile(ctx context.Context, request R) (result reconcile.Result, err error) {
	err = p.metrics.Pass(request, func() error {
		result, err = p.inner.Reconcile(ctx, request)
		return err
	})
	if again, is := waits(err); is {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	if IsOutdated(err) {
		return reconcile.Result{RequeueAfter: outdated}, nil
	}
	if err != nil {
		p.failed(request, result.RequeueAfter)
		return reconcile.Result{}, err
	}
	p.ended(request)
	return result, nil
}

// IsOutdated says that somebody wrote between the reading and the writing of a pass,
// so that it must observe again. That another field manager owns a field is none of
// that: it does not change by itself.
func IsOutdated(err error) bool {
	return apierrors.IsConflict(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) || apierrors.IsAlreadyExists(err)
}
