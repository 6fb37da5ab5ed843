package webhook

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// cachedAccounts answers from a cache, and looks live at what is not in it: the
// watch may lag behind a ServiceAccount that was made just before its pod.
type cachedAccounts struct {
	cached, live client.Reader
	ready        atomic.Bool
	timeout      time.Duration
	metrics      *metrics
	flights      singleflight.Group
	slots        chan struct{}
}

func newAccounts(cached, live client.Reader, timeout time.Duration, counted *metrics) *cachedAccounts {
	if timeout <= 0 {
		timeout = defaultLookupTimeout
	}
	return &cachedAccounts{cached: cached, live: live, timeout: timeout, metrics: counted, slots: make(chan struct{}, maxLookups)}
}

func (a *cachedAccounts) synced() bool { return a.ready.Load() }

func (a *cachedAccounts) find(ctx context.Context, key types.NamespacedName) (*inject.ServiceAccount, error) {
	account := newAccount()
	err := a.cached.Get(ctx, key, account)
	if err == nil {
		return &inject.ServiceAccount{Annotations: account.Annotations}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read ServiceAccount %s from the cache: %w", key, err)
	}
	// All who ask for the same one share a look; it does not end with the first
	// of them hanging up, only with its own time.
	look := a.flights.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.timeout)
		defer cancel()
		return a.look(ctx, key)
	})
	select {
	case result := <-look:
		found, _ := result.Val.(*inject.ServiceAccount)
		return found, result.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// look asks the API server, as one of few at a time.
func (a *cachedAccounts) look(ctx context.Context, key types.NamespacedName) (*inject.ServiceAccount, error) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		a.metrics.lookups.WithLabelValues("busy").Inc()
		return nil, fmt.Errorf("read ServiceAccount %s: %d other looks at the API server are not done: %w", key, maxLookups, ctx.Err())
	}
	account := newAccount()
	err := a.live.Get(ctx, key, account)
	switch {
	case apierrors.IsNotFound(err):
		a.metrics.lookups.WithLabelValues("absent").Inc()
		return nil, nil
	case err != nil:
		a.metrics.lookups.WithLabelValues("failed").Inc()
		return nil, fmt.Errorf("read ServiceAccount %s: %w", key, err)
	}
	a.metrics.lookups.WithLabelValues("found").Inc()
	return &inject.ServiceAccount{Annotations: account.Annotations}, nil
}

var accountType = metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}

func newAccount() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: accountType}
}

// newAccountCache keeps of each ServiceAccount what strip leaves. Its objects
// are shared and must not be changed.
func newAccountCache(config *rest.Config, annotationPrefix string) (cache.Cache, error) {
	shared := true
	made, err := cache.New(config, cache.Options{Mapper: kinds(), ByObject: map[client.Object]cache.ByObject{
		newAccount(): {Transform: strip(annotationPrefix), UnsafeDisableDeepCopy: &shared},
	}})
	if err != nil {
		return nil, fmt.Errorf("make the cache of ServiceAccounts: %w", err)
	}
	return made, nil
}

// strip leaves of a ServiceAccount its name and the annotations of the prefix:
// a cluster may have very many, and most of each is of no use here.
func strip(annotationPrefix string) func(any) (any, error) {
	prefix := annotationPrefix + "/"
	return func(object any) (any, error) {
		full, ok := object.(*metav1.PartialObjectMetadata)
		if !ok {
			return object, nil
		}
		slim := newAccount()
		slim.Namespace, slim.Name, slim.ResourceVersion = full.Namespace, full.Name, full.ResourceVersion
		for name, value := range full.Annotations {
			if strings.HasPrefix(name, prefix) {
				if slim.Annotations == nil {
					slim.Annotations = map[string]string{}
				}
				slim.Annotations[name] = value
			}
		}
		return slim, nil
	}
}
