package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// Limits of the live looks.
const (
	defaultLookupTimeout = time.Second
	// maxLookups is how many are made at a time at names that are known, and
	// maxUnknownLookups at others.
	maxLookups, maxUnknownLookups = 32, 8
	// tellTime is how long one waits for the watch to tell, where there may be no more
	// looks: longer than watches lag, and less than a hook's timeout.
	tellTime = 3 * time.Second
	// lookPause is after how long one who waits tries whether there may be a look.
	lookPause = 50 * time.Millisecond
	// maxSmallObject is up to how many bytes an object is read at once. Larger ones are
	// read by few at a time: they may be of more than a megabyte each.
	maxSmallObject, largeObjects = 64 << 10, 2
)

// errLimited says that there may be no more looks now.
var errLimited = errors.New("too many looks at the API server")

// accounts is what the server knows of ServiceAccounts. It is safe for
// concurrent use.
type accounts interface {
	// synced says that all ServiceAccounts have been read once.
	synced() bool
	// find is the ServiceAccount, nil if there is none; optIn is the annotation by
	// which one names the identity that is asked for. If it was looked at live,
	// it may be as new as this moment, and what else is said of it, too. With an
	// error it is not known how it is in this moment: found is then how it was when
	// it was last heard of, nil if that was never.
	find(ctx context.Context, key types.NamespacedName, optIn string) (found *inject.ServiceAccount, live bool, err error)
}

// liveReader reads one ServiceAccount from the API server, as it is in this
// moment.
type liveReader func(ctx context.Context, key types.NamespacedName) (object, error)

// readAccount is the liveReader of ServiceAccounts. An answer 404 is a
// statusError.
func (a *api) readAccount(ctx context.Context, key types.NamespacedName) (object, error) {
	if err := checkPath(key.Namespace, key.Name); err != nil {
		return object{}, err
	}
	return a.readOne(ctx, "/api/v1/namespaces/"+key.Namespace+"/serviceaccounts/"+key.Name)
}

// readNamespace is the liveReader of namespaces.
func (a *api) readNamespace(ctx context.Context, key types.NamespacedName) (object, error) {
	if err := checkPath(key.Name); err != nil {
		return object{}, err
	}
	return a.readOne(ctx, "/api/v1/namespaces/"+key.Name)
}

// checkPath refuses names that would lead to another path: they come out of a
// pod.
func checkPath(names ...string) error {
	for _, name := range names {
		if len(content.IsPathSegmentName(name)) > 0 || name == "" {
			return &statusError{http.StatusNotFound, fmt.Sprintf("%q names nothing", name)}
		}
	}
	return nil
}

func (a *api) readOne(ctx context.Context, path string) (object, error) {
	body, err := a.get(ctx, path, nil)
	if err != nil {
		return object{}, err
	}
	defer body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(io.LimitReader(body, maxSmallObject))
	if err == nil && len(text) == maxSmallObject {
		select {
		case a.large <- struct{}{}:
			defer func() { <-a.large }()
		case <-ctx.Done():
			return object{}, fmt.Errorf("other large objects are not read: %w", ctx.Err())
		}
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(body, maxObject))
		text = append(text, rest...)
	}
	if err != nil {
		return object{}, err
	}
	message, err := opened(text)
	if err != nil {
		return object{}, err
	}
	return readObject(message)
}

// cachedAccounts answers from the store, and looks live at what is not certain
// there: the watch may lag behind a ServiceAccount that was made or annotated
// just before its pod. That there is no identity is never remembered from a look:
// the next pod may come after the next change.
type cachedAccounts struct {
	*store
	// kind is what they are, for errors.
	kind    string
	live    liveReader
	timeout time.Duration
	metrics *metrics
	flights singleflight.Group
	// places and unknownPlaces are those of looks at names that are known and at
	// others; known and unknown say how often there may be one.
	places, unknownPlaces chan struct{}
	known                 *lookups
	unknown               *lookups
}

func newAccounts(known *store, live liveReader, timeout time.Duration, counted *metrics) *cachedAccounts {
	if timeout <= 0 {
		timeout = defaultLookupTimeout
	}
	return &cachedAccounts{
		store: known, kind: "ServiceAccount", live: live, timeout: timeout, metrics: counted,
		places: make(chan struct{}, maxLookups), unknownPlaces: make(chan struct{}, maxUnknownLookups),
		known: newLookups(knownLookups), unknown: newLookups(defaultUnknownLookups),
	}
}

// newNamespaces is the same for namespaces, of which the labels matter.
func newNamespaces(known *store, live liveReader, timeout time.Duration, counted *metrics) *cachedAccounts {
	found := newAccounts(known, live, timeout, counted)
	found.kind = "namespace"
	return found
}

// look is the result of one look at the API server.
type look struct {
	began  time.Time
	exists bool
	notes  *notes
}

func (a *cachedAccounts) find(ctx context.Context, key types.NamespacedName, optIn string) (found *inject.ServiceAccount, live bool, err error) {
	known, there, certain := a.get(key, optIn)
	if certain {
		return known.account(), false, nil
	}
	asked := time.Now()
	patient, cancel := context.WithTimeout(ctx, max(a.timeout, tellTime))
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, a.timeout)
	defer stop()
	var limited error
	for {
		got, err := a.share(ctx, key, there)
		if err != nil && limited != nil && ctx.Err() != nil {
			err = limited // the time has passed in waiting for a look, not for its answer
		}
		switch {
		case errors.Is(err, errLimited):
			ctx, limited = patient, err
			a.told(ctx, key)
			if known, there, certain = a.get(key, optIn); certain {
				return known.account(), true, nil
			}
			if ctx.Err() == nil {
				continue
			}
			fallthrough
		case err != nil:
			return known.accountIf(there), true, err
		case got.began.Before(asked) && !got.notes.has(optIn):
			// It joined the look of another, which may have been over before
			// the identity came and this question with it. The next is younger.
			continue
		case !got.exists:
			return nil, true, nil
		}
		return got.notes.account(), true, nil
	}
}

// told waits for a moment, or until the watch tells of a name.
func (a *cachedAccounts) told(ctx context.Context, key types.NamespacedName) {
	told, forget := a.expect(key)
	defer forget()
	select {
	case <-told:
	case <-time.After(lookPause):
	case <-ctx.Done():
	}
}

// share looks together with all who ask for the same one. The look does not end
// with the first of them hanging up, only with its own time.
func (a *cachedAccounts) share(ctx context.Context, key types.NamespacedName, there bool) (look, error) {
	flight := a.flights.DoChan(key.String(), func() (any, error) {
		if !a.may(key, there) {
			return look{}, fmt.Errorf("read %s %s: %w", a.kind, key, errLimited)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.timeout)
		defer cancel()
		return a.look(ctx, key, there)
	})
	select {
	case result := <-flight:
		got, _ := result.Val.(look)
		return got, result.Err
	case <-ctx.Done():
		return look{}, fmt.Errorf("read %s %s: %w", a.kind, key, ctx.Err())
	}
}

// may says whether there may be a look now. Namespaces of which nothing is known count
// as one: who makes names up makes them up, too.
func (a *cachedAccounts) may(key types.NamespacedName, there bool) bool {
	its, crowd := a.unknown, ""
	if there {
		its = a.known
	}
	if a.hasNamespace(key.Namespace) {
		crowd = key.Namespace
	}
	if its.take(crowd, time.Now()) {
		return true
	}
	a.metrics.lookups.WithLabelValues("limited").Inc()
	return false
}

// look asks the API server, as one of few at a time.
func (a *cachedAccounts) look(ctx context.Context, key types.NamespacedName, there bool) (look, error) {
	places := a.unknownPlaces
	if there {
		places = a.places
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		a.metrics.lookups.WithLabelValues("busy").Inc()
		return look{}, fmt.Errorf("read %s %s: %d other looks at the API server are not done: %w", a.kind, key, cap(places), ctx.Err())
	}
	got := look{began: time.Now()}
	seen, err := a.live(ctx, key)
	if hasCode(err, http.StatusNotFound) {
		a.metrics.lookups.WithLabelValues("absent").Inc()
		return got, nil
	}
	if err == nil {
		got.notes, err = a.interest.read(seen, everyLabel)
	}
	if err != nil {
		a.metrics.lookups.WithLabelValues("failed").Inc()
		return look{}, fmt.Errorf("read %s %s: %w", a.kind, key, err)
	}
	a.metrics.lookups.WithLabelValues("found").Inc()
	got.exists = true
	a.learn(seen, got.notes)
	return got, nil
}
