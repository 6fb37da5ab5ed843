package authors

import (
	"context"

	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/awsauth/kube"
)

// The page quotes it: a controller of controller-runtime that looks again when
// its Secret changes.
func Example_controllerRuntime() {
	setup := func(ctx context.Context, mgr ctrl.Manager, dynamicClient dynamic.Interface, own client.Object, reconciler reconcile.Reconciler) (*kube.Cluster, error) {
		changed := make(chan event.GenericEvent, 1)
		cluster := kube.New(ctx, kube.Options{Client: dynamicClient, Changed: func(kube.Reference) {
			select {
			case changed <- event.GenericEvent{Object: own}:
			default: // one is waiting already
			}
		}})
		return cluster, ctrl.NewControllerManagedBy(mgr).For(own).
			WatchesRawSource(source.Channel(changed, &handler.EnqueueRequestForObject{})).
			Complete(reconciler)
	}
	_ = setup
}
