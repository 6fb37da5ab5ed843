package platform

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	core "github.com/tabard-dev/tabard/internal/core/platform"
)

const (
	// between is the shortest time from one look to the next, whatever happens.
	between = time.Second
	// defaultRegularly is how often it is looked without an event: the kinds of OpenShift
	// may come to be served, and an event may be late.
	defaultRegularly = time.Minute
)

// Source wakes a controller when the cluster becomes another than its passes have seen:
// who says which requests that concerns. It follows each object by its name, and looks
// when one changes; a Lease that is renewed, or any other change that Facts do not have,
// wakes nobody. A kind that is not served, or may not be read, is tried once a minute.
func Source[R comparable](r *Reader, who func(context.Context) []R) source.TypedSource[R] {
	return source.TypedFunc[R](func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[R]) error {
		changed := make(chan struct{}, 1)
		known := r.listen(changed)
		go func() {
			defer r.unlisten(changed)
			for {
				select {
				case <-ctx.Done():
					return
				case <-changed:
				}
				// The first look of all changes nothing for anybody.
				before := known
				if known = r.versionNow(); before == 0 && known == 1 || before == known {
					continue
				}
				for _, request := range who(ctx) {
					queue.Add(request)
				}
			}
		}()
		r.follow(ctx)
		return nil
	})
}

// listen registers for news, and returns the version that is known already, 0 for none.
func (r *Reader) listen(news chan<- struct{}) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awake[news] = struct{}{}
	return r.version
}

func (r *Reader) unlisten(news chan<- struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.awake, news)
}

func (r *Reader) versionNow() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// follow looks at the cluster whenever an object of it changes, until the context ends.
func (r *Reader) follow(ctx context.Context) {
	events := make(chan struct{}, 1)
	var objects core.Objects
	for _, place := range objects.Places() {
		go r.watch(ctx, place.Reference, events)
	}
	go func() {
		for ctx.Err() == nil {
			facts, err := r.Look(ctx)
			if err != nil {
				return // the context's
			}
			pause(ctx, between)
			select {
			case <-ctx.Done():
			case <-events:
			case <-time.After(r.next(facts, time.Now())):
			}
		}
	}()
}

// next is when to look without an event.
func (r *Reader) next(facts core.Facts, now time.Time) time.Duration {
	if until := facts.Operator.Until; !until.IsZero() {
		return max(0, min(r.regularly, until.Sub(now)+between))
	}
	return r.regularly
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// watch follows one object until the context ends.
func (r *Reader) watch(ctx context.Context, ref core.Reference, events chan<- struct{}) {
	follow.Of(r.access(ref), follow.Options[struct{}]{
		Fields: fields.OneTermEqualSelector(metav1.ObjectNameField, ref.Name).String(),
		Trim:   func(object runtime.Object) (struct{}, error) { return struct{}{}, only(object, ref.Name) },
		Sink:   bell(events), Pause: rests,
	}).Run(ctx)
}

var errOther = errors.New("it is another object")

// only refuses what was not asked for.
func only(object runtime.Object, name string) error {
	if found, is := object.(*unstructured.Unstructured); !is || found.GetName() != name {
		return errOther
	}
	return nil
}

// rests is the pause after failures: long where only an administrator ends them.
func rests(failures int, err error) time.Duration {
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return defaultRegularly
	}
	return follow.Doubling(time.Second, defaultRegularly)(failures, err)
}

// bell is a sink that tells that there was something.
type bell chan<- struct{}

// Replace implements follow.Sink.
func (b bell) Replace([]struct{}) { nudge(b) }

// Set implements follow.Sink.
func (b bell) Set(struct{}) { nudge(b) }

// Delete implements follow.Sink.
func (b bell) Delete(struct{}) { nudge(b) }
