package webhook

import (
	"context"
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
	maxLookups           = 32
)

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
	text, err := io.ReadAll(io.LimitReader(body, maxObject))
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
	slots   chan struct{}
}

func newAccounts(known *store, live liveReader, timeout time.Duration, counted *metrics) *cachedAccounts {
	if timeout <= 0 {
		timeout = defaultLookupTimeout
	}
	return &cachedAccounts{store: known, kind: "ServiceAccount", live: live, timeout: timeout, metrics: counted, slots: make(chan struct{}, maxLookups)}
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
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	for {
		got, err := a.share(ctx, key)
		switch {
		case err != nil && there:
			return known.account(), true, err
		case err != nil:
			return nil, true, err
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

// share looks together with all who ask for the same one. The look does not end
// with the first of them hanging up, only with its own time.
func (a *cachedAccounts) share(ctx context.Context, key types.NamespacedName) (look, error) {
	flight := a.flights.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.timeout)
		defer cancel()
		return a.look(ctx, key)
	})
	select {
	case result := <-flight:
		got, _ := result.Val.(look)
		return got, result.Err
	case <-ctx.Done():
		return look{}, fmt.Errorf("read %s %s: %w", a.kind, key, ctx.Err())
	}
}

// look asks the API server, as one of few at a time.
func (a *cachedAccounts) look(ctx context.Context, key types.NamespacedName) (look, error) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		a.metrics.lookups.WithLabelValues("busy").Inc()
		return look{}, fmt.Errorf("read %s %s: %d other looks at the API server are not done: %w", a.kind, key, maxLookups, ctx.Err())
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
