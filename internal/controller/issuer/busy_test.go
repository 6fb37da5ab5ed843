package issuer_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// annotate changes an annotation of an issuer ten times a second until the returned
// function is called, which tells how often it did.
func (f *fixture) annotate(t *testing.T, name string) (stop func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var changes atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.org/beat":"%d"}}}`, changes.Load())
			object := &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := f.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)); err == nil {
				changes.Add(1)
			}
		}
	}()
	return func() int64 {
		cancel()
		<-done
		return changes.Load()
	}
}

// TestABusyObjectDoesNotKeepAKeyFromBeingPublished rotates the signing key while
// somebody changes an annotation ten times a second, with AWS as far away as it
// is. The time is what the controller lets go by between its passes.
func TestABusyObjectDoesNotKeepAKeyFromBeingPublished(t *testing.T) {
	f := newFixture(t)
	cluster := f.onRotating(t)
	f.create(t, "main", unchanged)
	f.settle(t, "main")
	cluster.replace(t)
	f.aws.Admin().Inject(awslocal.Fault{Service: "s3", Latency: 50 * time.Millisecond})
	stop := f.annotate(t, "main")
	start, published := f.now, time.Duration(-1)
	for f.now.Before(start.Add(time.Minute)) {
		stored, result := f.pass(t, "main")
		if seen, err := f.published(t.Context()); err == nil && len(seen) == 2 && published < 0 {
			published = f.now.Sub(start)
		}
		if result.RequeueAfter >= core.LookAgain && len(stored.Status.Keys) == 2 {
			break
		}
		f.now = f.now.Add(result.RequeueAfter)
	}
	changes := stop()
	t.Logf("published after %s, all recorded after %s, with %d changes", published, f.now.Sub(start), changes)
	if published < 0 || published > 15*time.Second {
		t.Errorf("the key was published after %s, want 15s at most", published)
	}
	if !f.now.Before(start.Add(time.Minute)) {
		t.Error("the status did not come to rest within a minute")
	}
	if changes < 5 {
		t.Errorf("the object was changed %d times only: the test shows nothing", changes)
	}
}

// TestAKeyIsPublishedThoughNoStatusCanBeWritten has an API server that stores no
// status at all.
func TestAKeyIsPublishedThoughNoStatusCanBeWritten(t *testing.T) {
	f := newFixture(t)
	cluster := f.onRotating(t)
	f.create(t, "main", unchanged)
	f.settle(t, "main")
	cluster.replace(t)
	f.controller.Kit.Client = unwritable{f.client}
	_, err := f.reconcile(t.Context(), f.controller, "main")
	if !errors.Is(err, errFull) {
		t.Errorf("the pass ended with %v, want the error of the status", err)
	}
	if seen, err := f.published(t.Context()); err != nil || len(seen) != 2 {
		t.Errorf("%d keys are published (%v), want the old and the new", len(seen), err)
	}
	f.controller.Kit.Client = f.client
	wantCondition(t, f.settle(t, "main"), "Ready", metav1.ConditionTrue, core.ReasonVerified)
}

var errFull = errors.New("the database is full")

// unwritable stores no status.
type unwritable struct{ client.Client }

func (u unwritable) Status() client.SubResourceWriter { return noStatus{u.Client.Status()} }

type noStatus struct{ client.SubResourceWriter }

func (noStatus) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errFull
}

// record writes a status to an object as it was seen.
func (f *fixture) record(ctx context.Context, seen *v1alpha1.OIDCIssuer) error {
	return controller.Keep(f.controller.Kit, seen).Record(ctx, func(o *v1alpha1.OIDCIssuer) { o.Status.Publication.Bucket = "written" })
}

// TestWhatTheDecisionWentByIsNotOverwritten changes the object between the reading
// and the writing of a pass.
func TestWhatTheDecisionWentByIsNotOverwritten(t *testing.T) {
	f := newFixture(t)
	for name, test := range map[string]struct {
		meanwhile string
		status    bool // of the status, not of the object
		written   bool
	}{
		"an annotation":             {`{"metadata":{"annotations":{"a":"b"}}}`, false, true},
		"a label":                   {`{"metadata":{"labels":{"a":"b"}}}`, false, true},
		"somebody else's finalizer": {`{"metadata":{"finalizers":["example.org/theirs"]}}`, false, true},
		"the spec":                  {`{"spec":{"retireKeysAfter":"30h"}}`, false, false},
		"the status, as by another operator": {`{"status":{"providers":[{"accountID":"210987654321","arn":"arn:aws:iam::210987654321:oidc-provider/x"}]}}`,
			true, false},
	} {
		t.Run(name, func(t *testing.T) {
			object := &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{GenerateName: "one-"}}
			object.Spec.URL = f.url
			object.Spec.Publication.S3 = v1alpha1.S3Publication{Bucket: testBucket, Region: testRegion}
			must.Do(t, f.client.Create(t.Context(), object))
			seen := object.DeepCopy()
			meanwhile := client.RawPatch(types.MergePatchType, []byte(test.meanwhile))
			err := f.client.Patch(t.Context(), object, meanwhile)
			if test.status {
				err = f.client.Status().Patch(t.Context(), object, meanwhile)
			}
			if err != nil {
				t.Fatal(err)
			}
			err = f.record(t.Context(), seen)
			if test.written != (err == nil) || err != nil && !apierrors.IsConflict(err) {
				t.Errorf("the write ended with %v", err)
			}
			var stored v1alpha1.OIDCIssuer
			must.Do(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(object), &stored))
			if (stored.Status.Publication.Bucket == "written") != test.written || len(stored.Status.Providers) != len(object.Status.Providers) ||
				len(stored.Annotations)+len(stored.Labels)+len(stored.Finalizers) != len(object.Annotations)+len(object.Labels)+len(object.Finalizers) {
				t.Errorf("stored is %+v", stored)
			}
		})
	}
}

// TestAnObjectOfTheSameNameIsAnother deletes the object and makes it anew between
// the reading and the writing of a pass.
func TestAnObjectOfTheSameNameIsAnother(t *testing.T) {
	f := newFixture(t)
	f.create(t, "main", unchanged)
	var seen v1alpha1.OIDCIssuer
	must.Do(t, f.client.Get(t.Context(), client.ObjectKey{Name: "main"}, &seen))
	must.Do(t, f.client.Delete(t.Context(), seen.DeepCopy()))
	if err := f.record(t.Context(), &seen); !apierrors.IsNotFound(err) {
		t.Errorf("a write of an object that is gone ended with %v", err)
	}
	f.create(t, "main", unchanged)
	if err := f.record(t.Context(), &seen); !apierrors.IsConflict(err) {
		t.Errorf("a write of an object that is another one ended with %v", err)
	}
}

// TestWritesOfABusyObjectComeToAnEnd has somebody change the object before each
// write: the pass gives up with the conflict, and is made again.
func TestWritesOfABusyObjectComeToAnEnd(t *testing.T) {
	f := newFixture(t)
	f.create(t, "main", unchanged)
	var seen v1alpha1.OIDCIssuer
	must.Do(t, f.client.Get(t.Context(), client.ObjectKey{Name: "main"}, &seen))
	writes := 0
	f.controller.Kit.Client = interceptor.NewClient(f.api, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, _ string, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
			writes++
			touch := fmt.Appendf(nil, `{"metadata":{"annotations":{"a":"%d"}}}`, writes)
			if err := c.Patch(ctx, seen.DeepCopy(), client.RawPatch(types.MergePatchType, touch)); err != nil {
				return err
			}
			return c.Status().Patch(ctx, object, patch)
		},
	})
	err := f.record(t.Context(), &seen)
	if !apierrors.IsConflict(err) || writes < 10 || writes > 30 {
		t.Errorf("after %d writes it ended with %v, want a conflict after a bounded number", writes, err)
	}
}
