package kube

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// follower watches one object by its name. It is the store of a reflector,
// which lists, watches and begins anew by itself.
type follower struct {
	ref      Reference
	resource schema.GroupVersionResource
	client   dynamic.Interface
	changed  func(Reference)
	stop     context.CancelFunc
	// used is when the object was asked for; the Cluster's lock guards it.
	used time.Time

	mu sync.Mutex
	// synced says that object is as the watch has it, nil for absent.
	synced bool
	object *unstructured.Unstructured
	// asked says that somebody was told of version, "" for absent.
	asked   bool
	version string
}

// access is the API of the object's resource in its namespace.
func (f *follower) access() dynamic.ResourceInterface {
	if f.ref.Namespace == "" {
		return f.client.Resource(f.resource)
	}
	return f.client.Resource(f.resource).Namespace(f.ref.Namespace)
}

// run follows the object until the context ends.
func (f *follower) run(ctx context.Context) {
	only := func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, f.ref.Name).String()
	}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			only(&options)
			list, err := f.access().List(unlogged(ctx), options)
			f.note(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			only(&options)
			found, err := f.access().Watch(unlogged(ctx), options)
			f.note(err)
			return found, err
		},
	}
	cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(source, f.client), &unstructured.Unstructured{}, f,
		cache.ReflectorOptions{Name: "awsauth/kube " + f.ref.Resource + " " + f.ref.Namespace + "/" + f.ref.Name},
	).RunWithContext(ctx)
}

// unlogged keeps what a Secret holds out of client-go's log, which at its highest
// verbosity has whole answers.
func unlogged(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// note stops trusting the watch when it is forbidden: what was seen last may
// never change again. What breaks otherwise is tried again, and until then what
// was seen last is good.
func (f *follower) note(err error) {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.synced = false
	}
}

// last is the object as the watch has it, nil for absent; not known before the
// first list.
func (f *follower) last() (object *unstructured.Unstructured, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.synced {
		f.asked, f.version = true, versionOf(f.object)
	}
	return f.object, f.synced
}

// told remembers what somebody was told who asked before the watch began.
func (f *follower) told(object *unstructured.Unstructured) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.version = true, versionOf(object)
}

// set takes over what the watch has, and says so if somebody was told otherwise.
func (f *follower) set(object *unstructured.Unstructured) {
	f.mu.Lock()
	f.synced, f.object = true, object
	news := f.asked && f.version != versionOf(object)
	f.version = versionOf(object)
	f.mu.Unlock()
	if news {
		f.changed(f.ref)
	}
}

// Add implements cache.ReflectorStore.
func (f *follower) Add(object any) error { return f.Update(object) }

// Update implements cache.ReflectorStore.
func (f *follower) Update(object any) error {
	if found, ok := object.(*unstructured.Unstructured); ok && found.GetName() == f.ref.Name {
		f.set(found)
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (f *follower) Delete(object any) error {
	if found, ok := object.(*unstructured.Unstructured); ok && found.GetName() == f.ref.Name {
		f.set(nil)
	}
	return nil
}

// Replace implements cache.ReflectorStore.
func (f *follower) Replace(objects []any, _ string) error {
	var now *unstructured.Unstructured
	for _, object := range objects {
		if found, ok := object.(*unstructured.Unstructured); ok && found.GetName() == f.ref.Name {
			now = found
		}
	}
	f.set(now)
	return nil
}

// Resync implements cache.ReflectorStore.
func (f *follower) Resync() error { return nil }

// versionOf changes whenever an object does; "" is no object. An object that was
// deleted and made anew has another UID.
func versionOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}
