package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
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
	// anew. overdue is for an API server that does not end it.
	shortestWatch = 30 * time.Second
	overdue       = 5 * time.Second
	// patience is how many ticks a kind that held objects has to be denied before it
	// counts as gone: half a minute.
	patience = 6
	tick     = 5 * time.Second
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
			example:  &v1alpha1.IAMRoleSelector{}, newList: func() client.ObjectList { return &v1alpha1.IAMRoleSelectorList{} },
		}, {
			source: roleselector.Choices, feed: choiceFeed{s.index}, optional: true,
			resource: identityv1alpha1.GroupVersion.WithResource("iamrolechoices").GroupResource(),
			example:  &identityv1alpha1.IAMRoleChoice{}, newList: func() client.ObjectList { return &identityv1alpha1.IAMRoleChoiceList{} },
		}, {
			source: roleselector.Namespaces, feed: s.namespaces,
			resource: schema.GroupResource{Resource: "namespaces"},
			example:  &metav1.PartialObjectMetadata{}, newList: namespaceList,
		},
	}
	for _, f := range followers {
		f.selectors, f.reader, f.err = s, reader, errNotRead
		sourceReady.WithLabelValues(f.resource.String()).Set(0)
	}
	return followers
}

// errNotRead is what is missing before the first answer.
var errNotRead = errors.New("not read yet")

// errUnwatched is what is missing when a watch has ended and there is no other.
var errUnwatched = errors.New("the watch has ended and the API server does not answer")

// errOutdated makes a reflector read all anew.
var errOutdated = errors.New("what is known is too old to go on from")

// follower keeps one source of the index as the API server has it. It is the
// store of its reflector.
type follower struct {
	selectors *Selectors
	reader    client.WithWatch
	source    roleselector.Source
	resource  schema.GroupResource
	// optional is for a kind that need not be installed.
	optional bool
	feed     feed
	example  client.Object
	newList  func() client.ObjectList

	mu     sync.Mutex
	synced bool
	// justRead is from a reading until it is watched for the first time.
	justRead bool
	// silent is while the API server does not answer: what is known does not count.
	silent bool
	// err is why it is not synced, or what is wrong with the connection although it
	// still is; ticks is for how long.
	err   error
	ticks int
	// unwatched runs while it is synced and nobody watches it.
	unwatched *time.Timer
}

// run follows until the context ends.
func (f *follower) run(ctx context.Context) {
	reflector := toolscache.NewReflectorWithOptions(&toolscache.ListWatch{
		ListWithContextFunc: f.list, WatchFuncWithContext: f.watch,
	}, f.example, f, toolscache.ReflectorOptions{
		Name: f.resource.String(), Backoff: &wait.Backoff{Duration: retry, Cap: retry, Steps: 1, Factor: 1, Jitter: 0.5},
	})
	for ctx.Err() == nil {
		began := time.Now()
		err := reflector.ListAndWatchWithContext(ctx)
		if ctx.Err() != nil {
			return
		}
		switch {
		case errors.Is(err, errOutdated):
			err = nil
		case err == nil:
			f.startGrace()
		default:
			f.failed(err)
		}
		pause := retry
		switch {
		case isRefused(err):
			pause = probe
		case err == nil && time.Since(began) > probe:
			pause = 0 // it was watched until now
		}
		select {
		case <-time.After(wait.Jitter(pause, 0.5)):
		case <-ctx.Done():
		}
	}
}

// list never takes the answer of an API server's cache that may be behind.
func (f *follower) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.ResourceVersion == "0" {
		options.ResourceVersion = ""
	}
	ctx, cancel := context.WithTimeout(ctx, longestRead)
	defer cancel()
	list := f.newList()
	err := f.reader.List(ctx, list, &client.ListOptions{Raw: &options, Limit: options.Limit, Continue: options.Continue})
	return list, err
}

// watch goes on from what is known only while that is not too old.
func (f *follower) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	fromStart := options.SendInitialEvents != nil && *options.SendInitialEvents
	// Nobody watches while this is being asked, which may take long: the client, and
	// the reflector, try some errors again by themselves and never tell.
	f.startGrace()
	if !fromStart && !f.isSynced() {
		return nil, errOutdated
	}
	lasts := wait.Jitter(shortestWatch, 1).Truncate(time.Second)
	options.TimeoutSeconds = new(int64(lasts.Seconds()))
	watching, err := f.reader.Watch(ctx, f.newList(), &client.ListOptions{Raw: &options})
	if err == nil {
		time.AfterFunc(lasts+overdue, watching.Stop)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil && f.synced && f.err == nil:
		f.err = err
	case err == nil && !fromStart && !f.synced: // it took too long
		watching.Stop()
		return nil, errOutdated
	case err == nil && !fromStart:
		f.err, f.ticks, f.justRead = nil, 0, false
		f.endGrace()
	}
	return watching, err
}

// startGrace is told that what is known is not watched any more. Unless it is again
// before the grace is over, it counts for nothing. While the API server is silent
// there is no grace: what is known is old already.
func (f *follower) startGrace() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.synced || f.unwatched != nil {
		return
	}
	if f.silent && !f.justRead {
		f.becomeStale()
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(grace, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.unwatched == timer {
			f.becomeStale()
		}
	})
	f.unwatched = timer
}

// endGrace is called under the lock.
func (f *follower) endGrace() {
	if f.unwatched != nil {
		f.unwatched.Stop()
		f.unwatched = nil
	}
}

func (f *follower) isSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced
}

// setSilent is told whether the API server answers. Where it does again, what is
// known still counts if it was watched all the time.
func (f *follower) setSilent(silent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silent = silent
	if f.unwatched != nil && !f.justRead {
		f.becomeStale()
		return
	}
	f.mark()
}

// mark tells the index whether what is known counts. It is called under the lock.
func (f *follower) mark() {
	if f.synced && !f.silent {
		f.selectors.index.MarkSynced(f.source)
		sourceReady.WithLabelValues(f.resource.String()).Set(1)
		return
	}
	f.selectors.index.MarkStale(f.source)
	sourceReady.WithLabelValues(f.resource.String()).Set(0)
}

// failed is told of each end of reading. A clear no of the API server counts at
// once; what is only out of reach has until the grace is over.
func (f *follower) failed(err error) {
	if f.optional && apierrors.IsNotFound(err) && f.isBelievedAbsent() {
		if !f.isSynced() {
			_ = f.Replace(nil, "")
		}
		return
	}
	f.mu.Lock()
	isNews := f.err == nil || f.err.Error() != err.Error()
	f.err = err
	f.mu.Unlock()
	f.startGrace()
	if isNews {
		f.selectors.log.info("what decides on roles cannot be read", "resource", f.resource.String(), "reason", f.explain(err))
	}
	if isRefused(err) {
		f.markStale()
	}
}

// isRefused says that it is a clear no of the API server.
func isRefused(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}

// isBelievedAbsent: deleting a kind deletes its objects first. If there are still
// some, an API server that denies the kind may not have heard of it yet.
func (f *follower) isBelievedAbsent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.feed.isEmpty() || f.ticks >= patience
}

// tick is called at even intervals.
func (f *follower) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		f.ticks++
	}
}

func (f *follower) markStale() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.becomeStale()
}

// becomeStale is called under the lock.
func (f *follower) becomeStale() {
	f.endGrace()
	if f.err == nil {
		f.err = errUnwatched
	}
	if f.synced {
		f.selectors.log.info("nothing is decided until it can be read again", "resource", f.resource.String())
	}
	f.synced = false
	f.mark()
}

// missing is an error that says what has not been read, nil if all has.
func (f *follower) missing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.synced {
		return nil
	}
	return errors.New(f.explain(f.err))
}

// explain is for a person who is to put it right.
func (f *follower) explain(err error) string {
	switch {
	case errors.Is(err, errNotRead):
		return fmt.Sprintf("%s have not been read yet", f.resource)
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("the API server does not serve %s: install the CustomResourceDefinition", f.resource)
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("the controller may not list and watch %s in the whole cluster: %v", f.resource, err)
	}
	return fmt.Sprintf("%s cannot be read: %v", f.resource, err)
}

// Add implements the reflector's store.
func (f *follower) Add(object any) error { return f.Update(object) }

// Update implements the reflector's store.
func (f *follower) Update(object any) error {
	f.selectors.waves.add(wave{change: f.feed.set(object)})
	return nil
}

// Delete implements the reflector's store.
func (f *follower) Delete(object any) error {
	f.selectors.waves.add(wave{change: f.feed.remove(object)})
	return nil
}

// Replace implements the reflector's store: all has been read.
func (f *follower) Replace(objects []any, _ string) error {
	f.feed.replace(objects)
	f.mu.Lock()
	if !f.synced {
		f.selectors.log.info("what decides on roles has been read", "resource", f.resource.String(), "objects", len(objects))
	}
	f.synced, f.justRead, f.err, f.ticks = true, true, nil, 0
	f.endGrace()
	f.mark()
	f.mu.Unlock()
	f.selectors.lookAtAll()
	return nil
}

// Resync implements the reflector's store; nothing is to be done.
func (f *follower) Resync() error { return nil }
