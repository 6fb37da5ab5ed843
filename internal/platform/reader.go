// Package platform reads what kind of cluster this is, live, and wakes controllers when
// that changes. What is read is decided in internal/core/platform.
//
// Its rights, on the served cluster:
//
//	rules:
//	- apiGroups: [config.openshift.io]
//	  resources: [infrastructures, authentications]
//	  resourceNames: [cluster]
//	  verbs: [get, list, watch]
//	- apiGroups: [config.openshift.io]
//	  resources: [clusteroperators]
//	  resourceNames: [cloud-credential]
//	  verbs: [get, list, watch]
//	- apiGroups: [operator.openshift.io]
//	  resources: [cloudcredentials]
//	  resourceNames: [cluster]
//	  verbs: [get, list, watch]
//	# The others may be a Role in openshift-cloud-credential-operator.
//	- apiGroups: [""]
//	  resources: [configmaps]
//	  resourceNames: [cloud-credential-operator-config]
//	  verbs: [get, list, watch]
//	- apiGroups: [apps]
//	  resources: [deployments]
//	  resourceNames: [cloud-credential-operator]
//	  verbs: [get, list, watch]
//	- apiGroups: [coordination.k8s.io]
//	  resources: [leases]
//	  resourceNames: [cloud-credential-operator-leader]
//	  verbs: [get, list, watch]
//
// They are needed on plain Kubernetes, too: an object that may not be read may be there.
package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	core "github.com/tabard-dev/tabard/internal/core/platform"
)

const (
	// Fresh is how old an answer of Facts may be.
	Fresh = 3 * time.Second
	// lookTime bounds one look at the cluster.
	lookTime = 10 * time.Second
	// discoveryPath is where an API server says of which issuer its tokens are.
	discoveryPath = "/" + issuer.DiscoveryPath
	// longestReason bounds what is kept of an error.
	longestReason = 300
)

// Reader reads what the cluster is. It is safe for concurrent use; however many ask at
// once, one look is made.
type Reader struct {
	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	override  core.Override
	// regularly is how often a Source looks without an event.
	regularly time.Duration

	mu sync.Mutex
	// facts are of a look that began at the time began; version counts the looks that
	// saw another cluster than the one before, from 1.
	facts   core.Facts
	began   time.Time
	version int
	// issued is the issuer that was read last.
	issued string
	// flight is closed when the look that is under way ends; nil is none.
	flight chan struct{}
	// awake are told of each new version.
	awake map[chan<- struct{}]struct{}
}

// New makes a Reader of the cluster that config reaches by a client.
func New(config *rest.Config, client *http.Client, override core.Override) (*Reader, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // one look at a time is limit enough
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("make a client that reads what the cluster is: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("make a client that reads what the cluster serves: %w", err)
	}
	return &Reader{
		client: objects, discovery: kinds, override: override, regularly: defaultRegularly, awake: map[chan<- struct{}]struct{}{},
	}, nil
}

// Facts says what the cluster is, by a look that is at most Fresh old. What could not be
// read is said in the facts; the error is the context's, if it ends before there is an
// answer. The facts' map is not to be changed.
func (r *Reader) Facts(ctx context.Context) (core.Facts, error) {
	return r.since(ctx, time.Now().Add(-Fresh))
}

// Look is Facts by a look that begins now.
func (r *Reader) Look(ctx context.Context) (core.Facts, error) { return r.since(ctx, time.Now()) }

// since returns what a look has seen that began at a time or later.
func (r *Reader) since(ctx context.Context, oldest time.Time) (core.Facts, error) {
	for {
		facts, flight := r.join(ctx, oldest)
		if flight == nil {
			return facts, nil
		}
		select {
		case <-flight:
		case <-ctx.Done():
			return core.Facts{}, fmt.Errorf("read what the cluster is: %w", ctx.Err())
		}
	}
}

// join returns the facts if they are new enough, else the look that is under way, which
// it begins if there is none.
func (r *Reader) join(ctx context.Context, oldest time.Time) (core.Facts, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version > 0 && !r.began.Before(oldest) {
		return r.facts, nil
	}
	if r.flight == nil {
		r.flight = make(chan struct{})
		go r.look(context.WithoutCancel(ctx), r.flight)
	}
	return core.Facts{}, r.flight
}

// look reads everything, for all who wait, so that the end of the first one's context
// must not end it.
func (r *Reader) look(ctx context.Context, flight chan<- struct{}) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	began := time.Now()
	facts := core.Read(r.read(ctx), r.override, time.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version == 0 || differs(r.facts, facts) {
		r.version++
		for news := range r.awake {
			nudge(news)
		}
	}
	r.facts, r.began, r.flight = facts, began, nil
	close(flight)
}

// differs says that two looks saw another cluster. That a Lease was renewed is no change.
func differs(a, b core.Facts) bool {
	a.Operator.Until, b.Operator.Until = time.Time{}, time.Time{}
	return !reflect.DeepEqual(a, b)
}

// read reads all objects at once.
func (r *Reader) read(ctx context.Context) core.Objects {
	var objects core.Objects
	var group errgroup.Group
	group.Go(func() error {
		objects.Config, objects.ConfigWhy = r.config(ctx)
		return nil
	})
	group.Go(func() error {
		objects.Issuer = r.issuer(ctx)
		return nil
	})
	for _, place := range objects.Places() {
		group.Go(func() error {
			*place.Seen = r.object(ctx, place.Reference)
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	return objects
}

// issuer is that of the discovery document, which every ServiceAccount may read unless somebody
// took that right away (Kubernetes: service account issuer discovery). Where the API server does
// not answer, it is the one that was read before.
func (r *Reader) issuer(ctx context.Context) string {
	text, err := r.discovery.RESTClient().Get().AbsPath(discoveryPath).DoRaw(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	var document struct{ Issuer string }
	switch {
	case err == nil && json.Unmarshal(text, &document) == nil:
		r.issued = document.Issuer
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		r.issued = ""
	}
	return r.issued
}

// config asks for the group itself: that is an answer of a few hundred bytes.
func (r *Reader) config(ctx context.Context) (core.Config, string) {
	err := r.discovery.RESTClient().Get().AbsPath("/apis/" + core.ConfigGroup).Do(ctx).Error()
	switch {
	case err == nil:
		return core.Served, ""
	case apierrors.IsNotFound(err):
		return core.NotServed, ""
	}
	return core.Unclear, reason(err)
}

// object reads one past all caches. A kind that is not served is as absent as an object.
func (r *Reader) object(ctx context.Context, ref core.Reference) core.Seen {
	found, err := r.access(ref).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		return core.Seen{Object: found}
	case apierrors.IsNotFound(err):
		return core.Seen{}
	}
	return core.Seen{Unread: reason(err)}
}

func (r *Reader) access(ref core.Reference) dynamic.ResourceInterface {
	if ref.Namespace == "" {
		return r.client.Resource(ref.Resource)
	}
	return r.client.Resource(ref.Resource).Namespace(ref.Namespace)
}

func reason(err error) string { return fmt.Sprintf("%.*s", longestReason, err.Error()) }

// nudge tells of news, of which one that was not heard is enough.
func nudge(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}
