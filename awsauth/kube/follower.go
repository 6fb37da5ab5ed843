package kube

import (
	"context"
	"errors"
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
	"k8s.io/klog/v2"

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
)

// follower remembers of one object what somebody was told, and what the watch has, if
// there is one. It is the watch's sink.
type follower struct {
	ref      Reference
	resource schema.GroupVersionResource
	client   dynamic.Interface
	changed  func(Reference)
	// used is when the object was asked for, stop ends its watch, nil for none; the
	// Cluster's lock guards both.
	used time.Time
	stop context.CancelFunc

	mu sync.Mutex
	// known says that object is as the watch has it, nil for absent.
	known  bool
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

// run watches the object until the context ends.
func (f *follower) run(ctx context.Context) {
	access := f.access()
	follow.New(follow.Options[*unstructured.Unstructured]{
		List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return access.List(unlogged(ctx), o)
		},
		Watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return access.Watch(unlogged(ctx), o)
		},
		Fields: fields.OneTermEqualSelector(metav1.ObjectNameField, f.ref.Name).String(),
		Trim:   f.only, Sink: f, Told: f.trust, Refused: isRefused,
	}).Run(ctx)
}

// unlogged keeps what a Secret holds out of client-go's log, which at its highest
// verbosity has whole answers.
func unlogged(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// isRefused says that the watch is forbidden: what was seen last may never change again.
// What breaks otherwise is tried again, and until then what was seen last is good.
func isRefused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

var errOther = errors.New("it is another object")

func (f *follower) only(object runtime.Object) (*unstructured.Unstructured, error) {
	if found, is := object.(*unstructured.Unstructured); is && found.GetName() == f.ref.Name {
		return found, nil
	}
	return nil, errOther
}

// trust is told what the watch is worth. That it is worth something is known since
// Replace, so that nobody is told anything between the two.
func (f *follower) trust(_, now follow.Health) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !now.Known {
		f.known, f.object = false, nil
	}
}

// isWatched says that the watch tells of changes.
func (f *follower) isWatched() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known
}

// last is the object as the watch has it, nil for absent, if there is one.
func (f *follower) last() (object *unstructured.Unstructured, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known {
		f.asked, f.version = true, versionOf(f.object)
	}
	return f.object, f.known
}

// told remembers what somebody was told who asked the API server. The watch may have
// begun meanwhile, and have seen what that answer is too old for.
func (f *follower) told(object *unstructured.Unstructured) {
	f.mu.Lock()
	f.asked, f.version = true, versionOf(object)
	news := f.known && f.differs(f.object)
	f.mu.Unlock()
	if news {
		f.changed(f.ref)
	}
}

// saw takes what there is now, and says so if somebody was told otherwise. Of what was
// read in turn nothing is kept.
func (f *follower) saw(object *unstructured.Unstructured, byWatch bool) {
	f.mu.Lock()
	if byWatch {
		f.known, f.object = true, object
	}
	news := f.differs(object)
	f.mu.Unlock()
	if news {
		f.changed(f.ref)
	}
}

// differs says that somebody was told otherwise, and is told by that. It is called under
// the lock.
func (f *follower) differs(object *unstructured.Unstructured) bool {
	before := f.version
	f.version = versionOf(object)
	return f.asked && f.version != before
}

// Set implements follow.Sink.
func (f *follower) Set(object *unstructured.Unstructured) { f.saw(object, true) }

// Delete implements follow.Sink.
func (f *follower) Delete(*unstructured.Unstructured) { f.saw(nil, true) }

// Replace implements follow.Sink.
func (f *follower) Replace(objects []*unstructured.Unstructured) {
	var now *unstructured.Unstructured
	for _, object := range objects {
		now = object
	}
	f.saw(now, true)
}

// look reads an object that no watch tells of. What cannot be read is read later.
func (f *follower) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	object, err := f.access().Get(unlogged(ctx), f.ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		f.saw(nil, false)
	case err == nil:
		f.saw(object, false)
	}
}

// versionOf changes whenever an object does; "" is no object. An object that was
// deleted and made anew has another UID.
func versionOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}
