package kube_test

import (
	"context"
	"errors"
	"flag"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// The page for authors quotes this file, and the tests run it on a real API
// server.

var bucketKind = schema.GroupVersionKind{Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket"}

func newBucket() *unstructured.Unstructured {
	bucket := &unstructured.Unstructured{}
	bucket.SetGroupVersionKind(bucketKind)
	return bucket
}

// addFlags adds the administrator's flags to the program's.
func (r *bucketReconciler) addFlags(set *flag.FlagSet) {
	for _, one := range roleselector.Flags(&r.options, &r.settings) {
		set.Func(one.Name, one.Usage, one.Set)
	}
}

// addTo adds the controller to a manager, once the flags are read.
func (r *bucketReconciler) addTo(mgr ctrl.Manager) (err error) {
	r.roles, err = kube.NewRoles(mgr, kube.RolesOptions{
		Options:  kube.Options{Roles: r.options, Kinds: []schema.GroupVersionKind{bucketKind}},
		Settings: r.settings, Base: r.base, Account: r.account, ClusterID: r.clusterID, Namespace: r.namespace, Resync: safetyTimer,
	})
	if err != nil {
		return err
	}
	r.client, r.events = mgr.GetClient(), mgr.GetEventRecorder("bucket-controller")
	return ctrl.NewControllerManagedBy(mgr).Named("bucket").
		For(newBucket(), builder.WithPredicates(r.roles.Predicate())).
		WatchesRawSource(r.roles.Source(bucketKind)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8}).
		Complete(r)
}

const (
	// safetyTimer is for what no event tells, soon for the next step of several.
	safetyTimer = 5 * time.Minute
	soon        = time.Millisecond
	finalizer   = "example.com/bucket"
)

// cloud is AWS, as somebody. Each call may be made again.
type cloud interface {
	// look says whether the bucket is there, and changes nothing.
	look(ctx context.Context, as identity.Identity, bucket *unstructured.Unstructured) (bool, error)
	make(ctx context.Context, as identity.Identity, bucket *unstructured.Unstructured) error
	remove(ctx context.Context, as identity.Identity, bucket *unstructured.Unstructured) error
}

type bucketReconciler struct {
	client client.Client
	events events.EventRecorder
	roles  *kube.Roles
	cloud  cloud

	// base is who the controller is, in which account.
	base    identity.Identity
	account string
	// clusterID, namespace, options and settings are the administrator's.
	clusterID, namespace string
	options              roleselector.Options
	settings             roleselector.Settings
}

// Reconcile decides first. What it writes into the status does not depend on how
// often it runs.
func (r *bucketReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	bucket := newBucket()
	if err := r.client.Get(ctx, request.NamespacedName, bucket); apierrors.IsNotFound(err) {
		r.roles.Gone(bucketKind, request.NamespacedName)
		return reconcile.Result{}, nil
	} else if err != nil {
		return reconcile.Result{}, err
	}
	before := bucket.DeepCopy()
	role, err := r.roles.Of(bucketKind, bucket, kube.Wish{})
	if err == nil && role.MayCall() && bucket.GetDeletionTimestamp().IsZero() && controllerutil.AddFinalizer(bucket, finalizer) {
		return r.finalize(ctx, before, bucket)
	}
	if err == nil {
		err = role.Report(bucket)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	result, failure := reconcile.Result{RequeueAfter: safetyTimer}, error(nil)
	if role.MayCall() {
		result, failure = r.manage(ctx, role, bucket)
	}
	if !equality.Semantic.DeepEqual(before.Object["status"], bucket.Object["status"]) {
		// A status that somebody else has written meanwhile is not written over.
		err := r.client.Status().Patch(ctx, bucket, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return reconcile.Result{RequeueAfter: soon}, failure
		} else if err != nil {
			return reconcile.Result{}, err
		}
	}
	if role.Event != nil {
		r.events.Eventf(bucket, nil, role.Event.Type, role.Event.Reason, "SelectRole", "%s", role.Event.Message)
	}
	return result, failure
}

// manage takes one step. Each leads to the next, wherever the process dies: the
// finalizer is there before the record, and the record before the bucket.
func (r *bucketReconciler) manage(ctx context.Context, role kube.Role, bucket *unstructured.Unstructured) (reconcile.Result, error) {
	next := reconcile.Result{RequeueAfter: soon}
	deleting := !bucket.GetDeletionTimestamp().IsZero()
	if deleting && !controllerutil.ContainsFinalizer(bucket, finalizer) {
		return reconcile.Result{}, nil // it is nobody's any more
	}
	exists, err := r.cloud.look(ctx, role.Identity, bucket)
	switch moves := role.Course.Step == roleselector.DeleteBeforeMove; {
	case err != nil:
		return reconcile.Result{}, err
	case (deleting || moves) && exists:
		return next, r.cloud.remove(ctx, role.Identity, bucket)
	case (deleting || moves) && !role.Course.TrustNotFound:
		return reconcile.Result{}, errors.New("the bucket was not found, but with another role than it was managed with")
	case deleting:
		before := bucket.DeepCopy()
		controllerutil.RemoveFinalizer(bucket, finalizer)
		return r.finalize(ctx, before, bucket)
	case moves:
		return next, role.Forsake(bucket)
	case !role.IsRecorded():
		return next, role.Record(bucket)
	case !exists:
		return next, r.cloud.make(ctx, role.Identity, bucket)
	}
	return reconcile.Result{RequeueAfter: safetyTimer}, role.Record(bucket)
}

// finalize writes the finalizers, unless somebody else wrote in between.
func (r *bucketReconciler) finalize(ctx context.Context, before, bucket *unstructured.Unstructured) (reconcile.Result, error) {
	err := r.client.Patch(ctx, bucket, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) {
		err = nil
	}
	return reconcile.Result{RequeueAfter: soon}, client.IgnoreNotFound(err)
}
