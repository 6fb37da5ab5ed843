package follow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// watchTime is how long a watch lasts, and twice that at most, unless it is told.
	watchTime = 5 * time.Minute
	// overdue is for an API server that does not end it.
	overdue = 5 * time.Second
)

// Sink takes what a Follower reads. It is called by one goroutine, and must not wait: a
// watch on which nothing is taken is ended by the API server.
type Sink[T any] interface {
	// Replace takes all that there is, in place of all that was.
	Replace(objects []T)
	Set(object T)
	Delete(object T)
}

// Options are what a Follower needs. List, Watch, Trim and Sink have to be there.
type Options[T any] struct {
	// List and Watch ask the API server.
	List  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	Watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// Fields selects objects; empty is all.
	Fields string
	// Trim leaves of an object what is kept. An object with an error is left out, and
	// Failed is told.
	Trim func(runtime.Object) (T, error)
	Sink Sink[T]

	// Pause is the Loop's.
	Pause func(failures int, err error) time.Duration
	// Failed is told of errors; nil is nobody.
	Failed func(error)
	// Watched is how long a watch lasts at least, twice that at most; 0 is five minutes.
	Watched time.Duration
	// Listing is how long a page of a list may take; 0 is a minute.
	Listing time.Duration

	// Grace is how long what is known counts unwatched; 0 is for ever.
	Grace time.Duration
	// Refused says that an error is a clear no, after which nothing is known; nil is none.
	Refused func(error) bool
	// Absent says that an error means that there are no objects; nil is none. It may not
	// ask the Follower.
	Absent func(error, Health) bool
	// Told is told what becomes of what is known, in order. It must not wait, and may not
	// ask the Follower. Nil is nobody.
	Told func(before, now Health)
}

// Follower keeps a Sink as the API server has a resource. It is safe for concurrent use.
type Follower[T any] struct {
	options Options[T]
	loop    Loop

	mu     sync.Mutex
	health Health
	read   chan struct{}
	alarm  *time.Timer
}

// Client is what typed, dynamic and metadata clients have of a resource.
type Client[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// New makes a Follower of options. It does nothing before Run.
func New[T any](options Options[T]) *Follower[T] {
	f := &Follower[T]{options: options, health: Health{Err: ErrNotRead, grace: options.Grace}, read: make(chan struct{})}
	f.loop = Loop{List: f.list, Watch: f.watch, Failed: f.failed, Pause: options.Pause}
	return f
}

// Of makes a Follower that asks a client.
func Of[T any, L runtime.Object](client Client[L], options Options[T]) *Follower[T] {
	options.List = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) }
	options.Watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return client.Watch(ctx, o) }
	return New(options)
}

// Run follows until the context ends. It is called once.
func (f *Follower[T]) Run(ctx context.Context) { f.loop.Run(ctx) }

// Relist is the Loop's.
func (f *Follower[T]) Relist() { f.loop.Relist() }

// Read is closed when all has been read for the first time.
func (f *Follower[T]) Read() <-chan struct{} { return f.read }

// Health is what is known worth now.
func (f *Follower[T]) Health() Health {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.health
}

// SetSilent is told whether the API server answers, by whoever asks it. While it does
// not, what is known does not count.
func (f *Follower[T]) SetSilent(silent bool) {
	f.become(func(h Health, now time.Time) Health { return h.silenced(silent, now) })
}

// become takes one event in.
func (f *Follower[T]) become(event func(Health, time.Time) Health) Health {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.health
	f.health = event(before, time.Now())
	if f.health.unwatched != before.unwatched && f.health.grace > 0 {
		if f.alarm != nil {
			f.alarm.Stop()
		}
		if !f.health.unwatched.IsZero() {
			f.alarm = time.AfterFunc(f.health.grace, func() { f.become(Health.passed) })
		}
	}
	if f.options.Told != nil {
		f.options.Told(before, f.health)
	}
	return f.health
}

func (f *Follower[T]) left() Health { return f.become(Health.left) }

func (f *Follower[T]) failed(err error) {
	refused := f.options.Refused != nil && f.options.Refused(err)
	f.become(func(h Health, now time.Time) Health { return h.failed(err, refused, now) })
	f.tell(err)
}

func (f *Follower[T]) tell(err error) {
	if f.options.Failed != nil {
		f.options.Failed(err)
	}
}

// list reads all. Of a page nothing is kept but what is trimmed.
func (f *Follower[T]) list(ctx context.Context) (version string, err error) {
	var all []T
	pages := Pages{List: f.options.List, Options: metav1.ListOptions{FieldSelector: f.options.Fields}, Time: f.options.Listing}
	version, err = pages.Each(ctx, func(object runtime.Object) error {
		if kept, is := f.trim(object); is {
			all = append(all, kept)
		}
		return nil
	})
	switch {
	case err == nil:
		f.listed(all)
	case f.options.Absent != nil && f.options.Absent(err, f.Health()):
		if !f.Health().Known {
			f.listed(nil)
		}
		return "", nil
	}
	return version, err
}

func (f *Follower[T]) trim(object runtime.Object) (kept T, is bool) {
	kept, err := f.options.Trim(object)
	if err != nil {
		f.tell(err)
	}
	return kept, err == nil
}

func (f *Follower[T]) listed(all []T) {
	f.options.Sink.Replace(all)
	f.become(func(h Health, _ time.Time) Health { return h.listed() })
	select {
	case <-f.read:
	default:
		close(f.read) // this goroutine alone does
	}
}

// watch goes on from a version only while what is known is not too old.
func (f *Follower[T]) watch(ctx context.Context, version string) (string, error) {
	// Nobody watches while this is being asked, which may take long.
	if !f.left().Known {
		return "", ErrLost
	}
	lasts := or(f.options.Watched, watchTime)
	lasts = (lasts + rand.N(lasts)).Truncate(time.Second) //nolint:gosec // it only spreads the replicas
	seconds := int64(lasts.Seconds())
	within, cancel := context.WithTimeout(ctx, lasts+overdue)
	defer cancel()
	events, err := f.options.Watch(within, metav1.ListOptions{
		FieldSelector: f.options.Fields, ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	})
	if err != nil {
		return version, lost(err)
	}
	defer events.Stop()
	if !f.become(func(h Health, _ time.Time) Health { return h.opened() }).Known {
		return "", ErrLost // it took too long
	}
	defer f.left()
	for {
		select {
		case <-within.Done():
			return version, ctx.Err()
		case event, open := <-events.ResultChan():
			if !open {
				return version, nil
			}
			if version, err = f.take(event, version); err != nil {
				return version, lost(err)
			}
		}
	}
}

// take hands one event on and returns the version reached.
func (f *Follower[T]) take(event watch.Event, version string) (string, error) {
	if event.Type == watch.Error {
		return version, apierrors.FromObject(event.Object)
	}
	is, err := meta.Accessor(event.Object)
	if err != nil {
		return version, err
	}
	if event.Type != watch.Bookmark { // that only says how far all has been seen
		kept, keep := f.trim(event.Object)
		switch {
		case !keep:
		case event.Type == watch.Deleted:
			f.options.Sink.Delete(kept)
		default:
			f.options.Sink.Set(kept)
		}
	}
	return is.GetResourceVersion(), nil
}

// lost marks the errors after which a watch cannot go on.
func lost(err error) error {
	if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

func or(length, otherwise time.Duration) time.Duration {
	if length > 0 {
		return length
	}
	return otherwise
}
