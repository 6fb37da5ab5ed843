package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	"github.com/tabard-dev/tabard/roleselector"
)

const (
	// retry is how soon the API server is asked again where it could not be reached.
	retry = 500 * time.Millisecond
	// probe is how soon it is asked again what it has refused.
	probe = 3 * time.Second
	// grace is how long what is known of a source counts once it is not watched any
	// more, as long as the API server answers.
	grace = time.Second
	// longestRead bounds a list, of which a page has to arrive.
	longestRead = 30 * time.Second
	// shortestWatch, and twice that, is how long the API server keeps a watch open:
	// one on which nothing arrives although its connection is alive is then begun
	// anew.
	shortestWatch = 30 * time.Second
	// patience is how long a kind that held objects has to be denied before it counts
	// as gone.
	patience = 30 * time.Second
)

func namespaceList() client.ObjectList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	return list
}

func (s *Selectors) newFollowers(reader client.WithWatch) []*follower {
	followers := []*follower{
		{
			source: roleselector.Selectors, feed: selectorFeed{s.index},
			resource: v1alpha1.GroupVersion.WithResource("iamroleselectors").GroupResource(),
			newList:  func() client.ObjectList { return &v1alpha1.IAMRoleSelectorList{} },
		}, {
			source: roleselector.Choices, feed: choiceFeed{s.index}, optional: true,
			resource: identityv1alpha1.GroupVersion.WithResource("iamrolechoices").GroupResource(),
			newList:  func() client.ObjectList { return &identityv1alpha1.IAMRoleChoiceList{} },
		}, {
			source: roleselector.Namespaces, feed: s.namespaces,
			resource: schema.GroupResource{Resource: "namespaces"},
			newList:  namespaceList,
		},
	}
	for _, f := range followers {
		f.selectors = s
		f.following = follow.New(follow.Options[client.Object]{
			List: f.list(reader), Watch: f.watch(reader), Trim: trimmed, Sink: f,
			Pause: pause, Watched: shortestWatch, Listing: longestRead,
			Grace: grace, Refused: isRefused, Absent: f.isAbsent, Told: f.told,
		})
		sourceReady.WithLabelValues(f.resource.String()).Set(0)
	}
	return followers
}

// follower keeps one source of the index as the API server has it.
type follower struct {
	selectors *Selectors
	following *follow.Follower[client.Object]
	source    roleselector.Source
	resource  schema.GroupResource
	// optional is for a kind that need not be installed.
	optional bool
	feed     feed
	newList  func() client.ObjectList
	// count is how many objects were read last; the goroutine that follows uses it.
	count int
}

func (f *follower) list(reader client.WithWatch) func(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		list := f.newList()
		return list, reader.List(ctx, list, &client.ListOptions{Raw: &o, Limit: o.Limit, Continue: o.Continue})
	}
}

func (f *follower) watch(reader client.WithWatch) func(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		return reader.Watch(ctx, f.newList(), &client.ListOptions{Raw: &o})
	}
}

// trimmed takes away what decides on nothing: whoever may write an object decides how long
// that is.
func trimmed(read runtime.Object) (client.Object, error) {
	object, is := read.(client.Object)
	if !is {
		return nil, fmt.Errorf("the API server answers with a %T", read)
	}
	object.SetManagedFields(nil)
	object.SetAnnotations(nil)
	object.SetOwnerReferences(nil)
	object.SetFinalizers(nil)
	if _, is := object.(*metav1.PartialObjectMetadata); !is { // of namespaces labels decide
		object.SetLabels(nil)
	}
	return object, nil
}

func pause(_ int, err error) time.Duration {
	if err == nil || isRefused(err) { // without an error the kind is not served
		return probe
	}
	return retry
}

// isRefused says that it is a clear no of the API server.
func isRefused(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// isAbsent says that a kind is believed not to be installed. Deleting one deletes its
// objects first: if there are still some, an API server that denies the kind may not
// have heard of it yet.
func (f *follower) isAbsent(err error, now follow.Health) bool {
	return f.optional && apierrors.IsNotFound(err) &&
		(f.feed.isEmpty() || !now.Since.IsZero() && time.Since(now.Since) >= patience)
}

// told tells the index whether what is known counts, and the log what has changed.
func (f *follower) told(before, now follow.Health) {
	log := f.selectors.log.info
	if now.Err != nil && (before.Err == nil || before.Err.Error() != now.Err.Error()) {
		log("what decides on roles cannot be read", "resource", f.resource.String(), "reason", f.explain(now.Err))
	}
	if before.Known && !now.Known {
		log("nothing is decided until it can be read again", "resource", f.resource.String())
	}
	ready := 0.0
	if now.Counts() {
		ready = 1
		f.selectors.index.MarkSynced(f.source)
	} else {
		f.selectors.index.MarkStale(f.source)
	}
	sourceReady.WithLabelValues(f.resource.String()).Set(ready)
	if now.Known && !before.Known {
		log("what decides on roles has been read", "resource", f.resource.String(), "objects", f.count)
		f.selectors.lookAtAll()
	}
}

// missing is an error that says what has not been read, nil if all has.
func (f *follower) missing() error {
	now := f.following.Health()
	if now.Known {
		return nil
	}
	return errors.New(f.explain(now.Err))
}

// explain is for a person who is to put it right.
func (f *follower) explain(err error) string {
	switch {
	case errors.Is(err, follow.ErrNotRead):
		return fmt.Sprintf("%s have not been read yet", f.resource)
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("the API server does not serve %s: install the CustomResourceDefinition", f.resource)
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("the controller may not list and watch %s in the whole cluster: %v", f.resource, err)
	}
	return fmt.Sprintf("%s cannot be read: %v", f.resource, err)
}

// Set implements follow.Sink.
func (f *follower) Set(object client.Object) {
	f.selectors.waves.add(wave{change: f.feed.set(object)})
}

// Delete implements follow.Sink.
func (f *follower) Delete(object client.Object) {
	f.selectors.waves.add(wave{change: f.feed.remove(object)})
}

// Replace implements follow.Sink. If nothing was known before, told sees to the rest.
func (f *follower) Replace(objects []client.Object) {
	f.count = len(objects)
	f.feed.replace(objects)
	if f.following.Health().Known {
		f.selectors.waves.add(wave{everything: true})
	}
}
