package kube_test

import (
	"context"
	"errors"
	"flag"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
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
func (r *bucketReconciler) addTo(mgr ctrl.Manager) error {
	if problems := r.settings.Problems(); len(problems) > 0 {
		return errors.New(problems[0].String())
	}
	r.sessions = roleselector.NewSessions(r.settings.SessionLimit)
	selectors, err := kube.New(mgr, kube.Options{
		Roles: r.options,
		Kinds: []schema.GroupVersionKind{bucketKind},
	})
	if err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("role-selectors", selectors.Ready); err != nil {
		return err
	}
	r.client, r.events, r.selectors = mgr.GetClient(), mgr.GetEventRecorder("bucket-controller"), selectors
	return ctrl.NewControllerManagedBy(mgr).Named("bucket").
		For(newBucket(), builder.WithPredicates(selectors.Predicate())).
		WatchesRawSource(selectors.Source(bucketKind)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8, SkipNameValidation: new(true)}).
		Complete(r)
}

// safetyTimer is for what no event tells.
const safetyTimer = 5 * time.Minute

type bucketReconciler struct {
	client    client.Client
	events    events.EventRecorder
	selectors *kube.Selectors

	// base is who the controller is, in which account.
	base    identity.Identity
	account string
	// clusterID, namespace, options and settings are the administrator's.
	clusterID, namespace string
	options              roleselector.Options
	settings             roleselector.Settings
	sessions             *roleselector.Sessions
	// manage makes the bucket in AWS as the object says, or deletes it.
	manage func(ctx context.Context, as identity.Identity, bucket *unstructured.Unstructured) error
}

// Reconcile decides first. What it writes into the status does not depend on how
// often it runs.
func (r *bucketReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	bucket := newBucket()
	if err := r.client.Get(ctx, request.NamespacedName, bucket); apierrors.IsNotFound(err) {
		r.selectors.Forget(bucketKind, request.NamespacedName)
		r.sessions.Release(refOf(request.NamespacedName))
		return reconcile.Result{}, nil
	} else if err != nil {
		return reconcile.Result{}, err
	}
	before := bucket.DeepCopy()
	recorded := recordedIn(bucket)
	situation := roleselector.Situation{
		Decision:       r.selectors.Decide(bucketKind, bucket),
		Recorded:       recorded,
		DefaultAccount: r.account,
		Region:         r.base.Region,
		Deleting:       !bucket.GetDeletionTimestamp().IsZero(),
		LastUsed:       r.selectors.LastUsed(bucketKind, bucket, recorded),
	}
	course := roleselector.Proceed(situation)
	as, course := r.identityFor(bucket, situation, course)
	have, want := conditionsOf(bucket), kube.Conditions(situation.Decision, course)
	if event, changed := kube.Transition(have, want); changed {
		r.events.Eventf(bucket, nil, event.Type, event.Reason, "SelectRole", "%s", event.Message)
	}
	setConditions(bucket, kube.Merge(have, want, metav1.Now()))
	var failure error
	if course.Step == roleselector.GoOn {
		if failure = r.manage(ctx, as, bucket); failure == nil {
			after := recorded.After(true, course.Selector, accountOf(course, r.account), r.base.Region)
			record(bucket, after, course.Selector, situation.Decision.DecidedBy)
		}
	}
	if !equality.Semantic.DeepEqual(before.Object["status"], bucket.Object["status"]) {
		if err := r.client.Status().Patch(ctx, bucket, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{RequeueAfter: safetyTimer}, failure
}

// identityFor is who to be for the bucket. A selector's templates may have no value
// for it: then there is nobody to be.
func (r *bucketReconciler) identityFor(bucket *unstructured.Unstructured, situation roleselector.Situation, course roleselector.Course) (identity.Identity, roleselector.Course) {
	ref := refOf(client.ObjectKeyFromObject(bucket))
	chosen := kube.Chosen(situation, course)
	if chosen == nil {
		r.sessions.Release(ref)
		return r.base, course
	}
	subject := r.selectors.Subject(bucketKind, bucket)
	subject.ClusterID, subject.ControllerNamespace = r.clusterID, r.namespace
	input, problems := chosen.AssumeRole(subject, r.settings)
	if len(problems) > 0 {
		r.sessions.Release(ref)
		return identity.Identity{}, blockedBy(problems[0])
	}
	as := r.base.Via(input.Role)
	if problem := r.sessions.Admit(ref, course.Selector, as.Roles); problem != nil {
		return identity.Identity{}, blockedBy(*problem)
	}
	return as, course
}

func blockedBy(problem roleselector.Problem) roleselector.Course {
	return roleselector.Course{Step: roleselector.Blocked, Reason: problem.Reason, Message: problem.String()}
}

func refOf(key client.ObjectKey) roleselector.Object {
	return roleselector.Object{Group: bucketKind.Group, Version: bucketKind.Version, Kind: bucketKind.Kind, Namespace: key.Namespace, Name: key.Name}
}

// accountOf is where a course manages the bucket.
func accountOf(course roleselector.Course, own string) string {
	if course.Selector.Account != "" {
		return course.Selector.Account
	}
	return own
}

// recordedIn is what the status says of the last success.
func recordedIn(bucket *unstructured.Unstructured) roleselector.Recorded {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(bucket.Object, append([]string{"status", "ackResourceMetadata"}, fields...)...)
		return value
	}
	return roleselector.Recorded{
		Account: text("ownerAccountID"), Region: text("region"),
		Selector: text("iamRoleSelector", "selectorName"), SelectorUID: types.UID(text("iamRoleSelector", "uid")),
		RoleARN: text("iamRoleSelector", "roleARN"),
	}
}

// record writes what is recorded of a success. As long as the selector says the
// same, its resource version stays the one that was written first.
func record(bucket *unstructured.Unstructured, after roleselector.Recorded, used roleselector.Reference, by roleselector.DecidedBy) {
	metadata := map[string]any{"ownerAccountID": after.Account, "region": after.Region}
	old, _, _ := unstructured.NestedMap(bucket.Object, "status", "ackResourceMetadata", "iamRoleSelector")
	isSame := old["uid"] == string(used.UID) && old["generation"] == used.Generation && old["decidedBy"] == string(by)
	if after.Selector != "" && isSame {
		metadata["iamRoleSelector"] = old
	} else if after.Selector != "" {
		metadata["iamRoleSelector"] = map[string]any{
			"selectorName": used.Name, "resourceVersion": used.ResourceVersion, "generation": used.Generation,
			"uid": string(used.UID), "roleARN": used.ARN, "decidedBy": string(by),
		}
	}
	_ = unstructured.SetNestedMap(bucket.Object, metadata, "status", "ackResourceMetadata")
}

func conditionsOf(bucket *unstructured.Unstructured) []metav1.Condition {
	var held struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(bucket.Object, &held)
	return held.Status.Conditions
}

func setConditions(bucket *unstructured.Unstructured, conditions []metav1.Condition) {
	list := make([]any, len(conditions))
	for i := range conditions {
		list[i], _ = runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
	}
	_ = unstructured.SetNestedSlice(bucket.Object, list, "status", "conditions")
}
