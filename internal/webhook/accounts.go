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
	// find is the ServiceAccount, nil if there is none. The error says that it
	// is not known whether there is one.
	find(ctx context.Context, key types.NamespacedName) (*inject.ServiceAccount, error)
}

// liveReader reads one ServiceAccount from the API server, as it is in this
// moment.
type liveReader func(ctx context.Context, key types.NamespacedName) (object, error)

// readLive is the API server's liveReader. An answer 404 is a statusError.
func (a *api) readLive(ctx context.Context, key types.NamespacedName) (object, error) {
	for _, part := range []string{key.Namespace, key.Name} {
		// It comes out of a pod and must not lead to another path.
		if len(content.IsPathSegmentName(part)) > 0 || part == "" {
			return object{}, &statusError{http.StatusNotFound, fmt.Sprintf("%q names nothing", part)}
		}
	}
	body, err := a.get(ctx, "/api/v1/namespaces/"+key.Namespace+"/serviceaccounts/"+key.Name, nil)
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
// just before its pod. That there is no role is never remembered from a look:
// the next pod may come after the next change.
type cachedAccounts struct {
	*store
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
	return &cachedAccounts{store: known, live: live, timeout: timeout, metrics: counted, slots: make(chan struct{}, maxLookups)}
}

// look is the result of one look at the API server.
type look struct {
	began  time.Time
	exists bool
	notes  *annotations
}

func (a *cachedAccounts) find(ctx context.Context, key types.NamespacedName) (*inject.ServiceAccount, error) {
	if notes, certain := a.get(key); certain {
		return notes.account(), nil
	}
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	for {
		got, err := a.share(ctx, key)
		switch {
		case err != nil:
			return nil, err
		case got.began.Before(asked) && !a.interest.optsIn(got.notes):
			// It joined the look of another, which may have been over before
			// the role came and this question with it. The next is younger.
			continue
		case !got.exists:
			return nil, nil
		}
		return got.notes.account(), nil
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
		return look{}, fmt.Errorf("read ServiceAccount %s: %w", key, ctx.Err())
	}
}

// look asks the API server, as one of few at a time.
func (a *cachedAccounts) look(ctx context.Context, key types.NamespacedName) (look, error) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		a.metrics.lookups.WithLabelValues("busy").Inc()
		return look{}, fmt.Errorf("read ServiceAccount %s: %d other looks at the API server are not done: %w", key, maxLookups, ctx.Err())
	}
	got := look{began: time.Now()}
	seen, err := a.live(ctx, key)
	if hasCode(err, http.StatusNotFound) {
		a.metrics.lookups.WithLabelValues("absent").Inc()
		return got, nil
	}
	if err == nil {
		got.notes, err = a.interest.read(seen)
	}
	if err != nil {
		a.metrics.lookups.WithLabelValues("failed").Inc()
		return look{}, fmt.Errorf("read ServiceAccount %s: %w", key, err)
	}
	a.metrics.lookups.WithLabelValues("found").Inc()
	got.exists = true
	a.learn(seen, got.notes)
	return got, nil
}
