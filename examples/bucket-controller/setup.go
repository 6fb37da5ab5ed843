package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

const (
	// lease is the controller's own, and not that of ACK's.
	lease = "bucket-controller.example.tabard.dev"
	// workers are how many Buckets are looked after at once.
	workers = 10
	// The pauses after what may pass by itself.
	shortestPause, longestPause = time.Second, time.Minute
)

func newManager(f *flags) (ctrl.Manager, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, bucket.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:         scheme,
		LeaderElection: f.leaderElect, LeaderElectionID: lease, LeaderElectionNamespace: f.namespace, LeaderElectionReleaseOnCancel: true,
		Metrics: server.Options{BindAddress: f.metricsAddress}, HealthProbeBindAddress: f.healthAddress,
		// Of the config maps only those of CARM are its business.
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{f.namespace: {}}},
		}},
	})
}

// addController adds the controller with the one of the two ways to a role that
// the flags ask for.
func addController(ctx context.Context, mgr ctrl.Manager, f *flags, auth *awsauth.Auth, sessions *roleselector.Sessions, self bucket.Self) error {
	c := &controller{Client: mgr.GetClient(), auth: auth, events: mgr.GetEventRecorder(name), resync: f.resync}
	build := ctrl.NewControllerManagedBy(mgr).Named(name).WithOptions(ctrlcontroller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](shortestPause, longestPause),
	})
	ready := healthz.Ping
	homes := namespaces{mgr.GetClient()}
	if f.gates[selectorGate] {
		selectors, err := kube.New(mgr, kube.Options{
			Roles: f.options,
			Kinds: []schema.GroupVersionKind{bucket.Kind},
		})
		if err != nil {
			return err
		}
		id, err := clusterID(ctx, mgr.GetAPIReader())
		if err != nil {
			return err
		}
		sessions.OnRoom(selectors.Wake)
		c.roles = &bySelectors{
			selectors: selectors, namespaces: homes, self: self, settings: f.carm(self.Account()), auth: auth, clusterID: id, resync: f.resync,
			assumeRole: f.settings, sessions: sessions,
		}
		build = build.For(&bucket.Bucket{}, builder.WithPredicates(passes(selectors.Predicate()))).WatchesRawSource(selectors.Source(bucket.Kind))
		ready = selectors.Ready
	} else {
		c.roles = &byCARM{reader: mgr.GetClient(), namespaces: homes, self: self, settings: f.carm(self.Account())}
		build = build.For(&bucket.Bucket{}, builder.WithPredicates(passes(predicate.GenerationChangedPredicate{})))
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("roles", ready); err != nil {
		return err
	}
	return build.Complete(c)
}

// passes lets changes of annotations in, too: they say where a bucket is and what
// becomes of it.
func passes(p predicate.Predicate) predicate.Predicate {
	return predicate.Or(p, predicate.AnnotationChangedPredicate{})
}

// clusterID tells clusters apart: the UID of a namespace that all of them have, and
// that is never made anew.
func clusterID(ctx context.Context, reader client.Reader) (string, error) {
	home := &corev1.Namespace{}
	if err := reader.Get(ctx, client.ObjectKey{Name: "kube-system"}, home); err != nil {
		return "", fmt.Errorf("read the namespace kube-system, whose UID is the cluster's: %w", err)
	}
	return string(home.UID), nil
}
