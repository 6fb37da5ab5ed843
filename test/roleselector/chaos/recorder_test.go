package chaos

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	selectors  = v1alpha1.GroupVersion.WithResource("iamroleselectors")
	choices    = identityv1alpha1.GroupVersion.WithResource("iamrolechoices")
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	buckets    = schema.GroupVersionResource{Group: group, Version: apiVersion, Resource: "buckets"}
)

// recorder keeps each version of what decides on roles, from the watches of the API
// server. A version was stored before its watch delivered it, and what this process
// wrote was stored while it was being written.
type recorder struct {
	t      *testing.T
	client dynamic.Interface

	mu      sync.Mutex
	history history
	// revisions are those of the objects that are there.
	revisions map[schema.GroupVersionResource]map[key]uint64
	// writes are when this process wrote a revision.
	writes map[uint64]interval
}

type interval struct{ begin, end time.Time }

// startRecorder records until the test ends.
func startRecorder(t *testing.T, client dynamic.Interface) *recorder {
	t.Helper()
	r := &recorder{t: t, client: client, revisions: map[schema.GroupVersionResource]map[key]uint64{}, writes: map[uint64]interval{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var following sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		following.Wait()
	})
	for _, of := range []schema.GroupVersionResource{selectors, choices, namespaces, buckets} {
		r.revisions[of] = map[key]uint64{}
		list := must.Get(client.Resource(of).List(t.Context(), metav1.ListOptions{}))(t)
		for i := range list.Items {
			r.take(of, &list.Items[i], false, time.Time{})
		}
		following.Go(func() { r.follow(ctx, of, list.GetResourceVersion()) })
	}
	return r
}

// follow watches a kind. A watch that ends is taken up where it ended.
func (r *recorder) follow(ctx context.Context, of schema.GroupVersionResource, from string) {
	for ctx.Err() == nil {
		watching, err := r.client.Resource(of).Watch(ctx, metav1.ListOptions{ResourceVersion: from})
		if err != nil {
			if ctx.Err() == nil {
				r.t.Errorf("the history of %s ends: %v", of.Resource, err)
			}
			return
		}
		for event := range watching.ResultChan() {
			object, is := event.Object.(*unstructured.Unstructured)
			if !is || event.Type == watch.Error {
				if ctx.Err() == nil {
					r.t.Errorf("the history of %s ends: %+v", of.Resource, event.Object)
				}
				return
			}
			from = object.GetResourceVersion()
			r.take(of, object, event.Type == watch.Deleted, time.Now())
		}
	}
}

// take enters a version that was stored at latest at some time.
func (r *recorder) take(of schema.GroupVersionResource, object *unstructured.Unstructured, deleted bool, latest time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := key{object.GetNamespace(), object.GetName()}
	revision := r.revision(object)
	r.revisions[of][at] = revision
	if deleted {
		delete(r.revisions[of], at)
	}
	switch of {
	case selectors:
		r.history.selectors = append(r.history.selectors, versionOf(at, revision, latest, deleted, decode(r.t, object, &v1alpha1.IAMRoleSelector{})))
	case choices:
		r.history.choices = append(r.history.choices, versionOf(at, revision, latest, deleted, decode(r.t, object, &identityv1alpha1.IAMRoleChoice{})))
	case namespaces:
		r.history.namespaces = append(r.history.namespaces, versionOf(at, revision, latest, deleted, &namespace{object.GetLabels()}))
	case buckets:
		r.history.resources = append(r.history.resources, versionOf(at, revision, latest, deleted, resourceOf(object)))
	}
}

func versionOf[T any](at key, revision uint64, latest time.Time, deleted bool, object *T) version[T] {
	if deleted {
		object = nil
	}
	return version[T]{key: at, revision: revision, latest: latest, object: object}
}

func (r *recorder) revision(object *unstructured.Unstructured) uint64 {
	revision, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		r.t.Errorf("the resource version of %s is no number: %v", object.GetName(), err)
	}
	return revision
}

// decode reads an object into the value of a kind's Go type, which it returns.
func decode[T any](t *testing.T, object *unstructured.Unstructured, into *T) *T {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		t.Errorf("read %s: %v", object.GetName(), err)
	}
	return into
}

// resourceOf is what of a Bucket decides on its role.
func resourceOf(object *unstructured.Unstructured) *resource {
	text := func(path ...string) string {
		found, _, _ := unstructured.NestedString(object.Object, path...)
		return found
	}
	metadata := func(path ...string) string {
		return text(append([]string{"status", "ackResourceMetadata"}, path...)...)
	}
	announced := ""
	for _, c := range sayings(object) {
		if c["type"] == "AccountChangePending" && c["status"] == "True" {
			announced, _ = c["message"].(string)
		}
	}
	return &resource{
		retain: object.GetAnnotations()[policyAnnotation] == "retain", announced: announced,
		key: key{object.GetNamespace(), object.GetName()}, uid: object.GetUID(), bucket: text("spec", "name"),
		labels: object.GetLabels(), choice: object.GetAnnotations()[v1alpha1.ChoiceAnnotation], deleting: object.GetDeletionTimestamp() != nil,
		recorded: recorded{
			account: metadata("ownerAccountID"), selector: metadata("iamRoleSelector", "selectorName"),
			selectorUID: types.UID(metadata("iamRoleSelector", "uid")), role: metadata("iamRoleSelector", "roleARN"),
		},
	}
}

// wrote notes when this process wrote a version.
func (r *recorder) wrote(object *unstructured.Unstructured, begin time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes[r.revision(object)] = interval{begin, time.Now()}
}

// hasAll says whether what is stored has been recorded.
func (r *recorder) hasAll() bool {
	for of := range r.revisions {
		list := must.Get(r.client.Resource(of).List(r.t.Context(), metav1.ListOptions{}))(r.t)
		if !r.has(of, list) {
			return false
		}
	}
	return true
}

func (r *recorder) has(of schema.GroupVersionResource, list *unstructured.UnstructuredList) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range list.Items {
		object := &list.Items[i]
		if r.revisions[of][key{object.GetNamespace(), object.GetName()}] != r.revision(object) {
			return false
		}
	}
	return len(list.Items) == len(r.revisions[of])
}

// tell returns the history so far, with the times of this process's writes.
func (r *recorder) tell() *history {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := history{
		selectors: timed(r.history.selectors, r.writes), choices: timed(r.history.choices, r.writes),
		namespaces: timed(r.history.namespaces, r.writes), resources: timed(r.history.resources, r.writes),
	}
	told.settle()
	return &told
}

func timed[T any](versions []version[T], writes map[uint64]interval) []version[T] {
	out := make([]version[T], len(versions))
	for i, v := range versions {
		if wrote, is := writes[v.revision]; is {
			v.earliest = wrote.begin
			if wrote.end.Before(v.latest) {
				v.latest = wrote.end
			}
		}
		out[i] = v
	}
	return out
}
