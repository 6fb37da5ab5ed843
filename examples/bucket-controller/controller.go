package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// roles say with which role a Bucket is managed: by selectors, or by CARM.
type roles interface {
	// of decides on a Bucket as it is now. An error is the cluster's.
	of(ctx context.Context, b *bucket.Bucket) (bucket.Standing, bucket.Place, error)
	// gone says that a Bucket does not exist any more.
	gone(key client.ObjectKey)
}

// controller looks after Buckets: observe, decide, perform, report.
type controller struct {
	client.Client
	auth   *awsauth.Auth
	roles  roles
	events events.EventRecorder
	// resync is when a Bucket is looked at again that nothing has happened to.
	resync time.Duration
}

// mostPasses are made of one Bucket at once: the finalizer, the record of what is
// intended, and the bucket itself are one each.
const mostPasses = 4

// Reconcile goes on with a Bucket as far as it can.
func (c *controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	b := &bucket.Bucket{}
	if err := c.Get(ctx, request.NamespacedName, b); err != nil {
		if apierrors.IsNotFound(err) {
			c.roles.gone(request.NamespacedName)
		}
		return interrupted(err)
	}
	for range mostPasses {
		plan, err := c.pass(ctx, b)
		if err != nil {
			return interrupted(err)
		}
		if !plan.Again {
			return c.next(plan)
		}
	}
	return reconcile.Result{RequeueAfter: shortestPause}, nil
}

// pass is one time around. An error is the cluster's: AWS's are in the plan.
func (c *controller) pass(ctx context.Context, b *bucket.Bucket) (bucket.Plan, error) {
	seen, err := c.observe(ctx, b)
	if err != nil {
		return bucket.Plan{}, err
	}
	plan, err := c.perform(ctx, seen, bucket.Decide(seen))
	if err != nil {
		return bucket.Plan{}, err
	}
	return plan, c.report(ctx, seen, plan)
}

// interrupted is for what ended early. Who wrote at the same time as we did makes us
// look again soon; of a Bucket that is gone nothing is left to do.
func interrupted(err error) (reconcile.Result, error) {
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: shortestPause}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// next is when the Bucket is looked at again, should nothing wake it before.
func (c *controller) next(plan bucket.Plan) (reconcile.Result, error) {
	switch {
	case plan.Trouble == nil:
		return reconcile.Result{RequeueAfter: c.resync}, nil
	case plan.Trouble.Passing:
		return reconcile.Result{}, plan.Trouble
	}
	return reconcile.Result{RequeueAfter: min(plan.Trouble.Wait, c.resync)}, nil
}

func (c *controller) observe(ctx context.Context, b *bucket.Bucket) (bucket.Observed, error) {
	standing, place, err := c.roles.of(ctx, b)
	if err != nil {
		return bucket.Observed{}, err
	}
	if standing.Trouble == nil {
		standing.Trouble = place.Trouble
	}
	seen := bucket.Observed{Bucket: b, Standing: standing, Retain: place.Retain, Now: time.Now()}
	if !seen.NeedsLook() {
		return seen, nil
	}
	a, err := at(ctx, c.auth, b.Spec.Name, standing)
	if err == nil {
		seen.Sight, err = a.look(ctx, string(b.UID))
	}
	seen.Sight.Fault = fault.Of("", "", err)
	seen.Advice = fault.Of("", "", c.auth.Trouble(standing.Identity))
	return seen, nil
}

// perform takes the steps of a plan, up to the first that fails. What it returns is
// the plan that holds then. An error is the cluster's.
func (c *controller) perform(ctx context.Context, seen bucket.Observed, plan bucket.Plan) (bucket.Plan, error) {
	for _, step := range plan.Steps {
		var err error
		switch step {
		case bucket.HoldFinalizer, bucket.ReleaseFinalizer:
			if err := c.finalize(ctx, seen.Bucket, step == bucket.HoldFinalizer); err != nil {
				return plan, err
			}
		default:
			err = c.call(ctx, seen, step)
		}
		if err != nil {
			return bucket.AfterFailure(seen, step, fault.Of("", "", err)), nil
		}
	}
	return plan, nil
}

// call takes a step in AWS.
func (c *controller) call(ctx context.Context, seen bucket.Observed, step bucket.Step) error {
	a, err := at(ctx, c.auth, seen.Bucket.Spec.Name, seen.Standing)
	if err != nil {
		return err
	}
	owner := string(seen.Bucket.UID)
	switch step {
	case bucket.CreateBucket:
		return a.create(ctx)
	case bucket.PutTags:
		return a.tag(ctx, owner, seen.Bucket.Tags())
	case bucket.DeleteBucket:
		return a.remove(ctx, owner)
	}
	return reconcile.TerminalError(fmt.Errorf("the step %s is not known", step))
}

// finalize adds or takes away the finalizer, unless somebody wrote in between.
func (c *controller) finalize(ctx context.Context, b *bucket.Bucket, hold bool) error {
	before := b.DeepCopy()
	if hold {
		controllerutil.AddFinalizer(b, bucket.Finalizer)
	} else {
		controllerutil.RemoveFinalizer(b, bucket.Finalizer)
	}
	return c.Patch(ctx, b, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// report writes the status once, if it has changed, and tells of what has.
func (c *controller) report(ctx context.Context, seen bucket.Observed, plan bucket.Plan) error {
	b := seen.Bucket
	if !b.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(b, bucket.Finalizer) {
		return nil // it is nobody's any more
	}
	before := b.DeepCopy()
	b.Status = bucket.Report(seen, plan)
	if equality.Semantic.DeepEqual(before.Status, b.Status) {
		return nil
	}
	if err := c.Status().Patch(ctx, b, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	for _, event := range bucket.Events(before.Status, b.Status) {
		c.events.Eventf(b, nil, event.Type, event.Reason, "Reconcile", "%s", event.Message)
	}
	return nil
}
