// Package kube answers awsauth's questions from a cluster: what a Secret holds,
// which certificates a ConfigMap has, and what OpenShift's Infrastructure says
// of region and endpoints. Each object that was asked for is followed by a watch
// of its own, for its name alone: there is no informer over all Secrets, and
// the right to get, list and watch that one object (resourceNames in RBAC) is
// enough.
//
// Of objects beyond Options.Watches, and with the right to get alone, each question is
// one read, and what has changed is found by reading them in turn: five a second, and
// each once in half a minute at most. So with 10,000 such objects a change is told after
// 34 minutes at the latest.
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	defaultWatches = 256
	// idleTime is how long an object is followed that nobody asks for.
	idleTime = time.Hour
	// Objects that are not watched are read in turn: all of them in a round, one after
	// the other.
	roundTime, turnTime = 30 * time.Second, 200 * time.Millisecond
	lookTime            = 10 * time.Second
)

var (
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// CloudConfig is where OpenShift keeps the certificates of private endpoints.
var CloudConfig = identity.BundleRef{Namespace: "openshift-config-managed", Name: "kube-cloud-config", Key: "ca-bundle.pem"}

// Reference names an object of a cluster.
type Reference struct {
	// Resource is the plural: "secrets", "configmaps" or "infrastructures".
	Resource, Namespace, Name string
}

// Options is what a Cluster needs.
type Options struct {
	Client dynamic.Interface
	// Changed is told of an object that was asked for and is not as it was then:
	// changed, made or gone. It is told, too, of one that nobody has asked for in an
	// hour, and that is followed no longer: who still needs it asks again. It must not
	// wait. Nil is nobody.
	Changed func(Reference)
	// Watches is how many objects are watched at most; 0 is 256. A watched object takes
	// about 35 kB beside what it holds, any other less than one.
	Watches int
	// Now is the clock by which objects are forgotten; nil is time.Now.
	Now func() time.Time
}

// Cluster is an awsauth.Source. It is safe for concurrent use.
type Cluster struct {
	client  dynamic.Interface
	changed func(Reference)
	now     func() time.Time
	// life ends all watches.
	life context.Context

	mu       sync.Mutex
	followed map[Reference]*follower
	// rounds says that there is a goroutine that makes rounds, watches how many watches
	// there may still be.
	rounds  bool
	watches int
}

var _ awsauth.Source = (*Cluster)(nil)

var errNoClient = errors.New("there is no client to read the cluster with; set Options.Client of awsauth/kube")

// New makes a Cluster. Its watches end with the context.
func New(ctx context.Context, options Options) *Cluster {
	c := &Cluster{
		client: options.Client, changed: options.Changed, now: options.Now, life: ctx, followed: map[Reference]*follower{},
		watches: options.Watches,
	}
	if c.watches <= 0 {
		c.watches = defaultWatches
	}
	if c.changed == nil {
		c.changed = func(Reference) {}
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// Secret implements awsauth.Source.
func (c *Cluster) Secret(ctx context.Context, ref identity.SecretRef) (awsauth.SecretContent, error) {
	found, err := c.read(ctx, secrets, ref.Namespace, ref.Name)
	if err != nil {
		return awsauth.SecretContent{}, err
	}
	var secret corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &secret); err != nil {
		// The error of the converter may repeat what it could not convert.
		return awsauth.SecretContent{}, errors.New("the object is no Secret")
	}
	return awsauth.SecretContent{Version: versionOf(found), Data: secret.Data}, nil
}

// Bundle implements awsauth.Source.
func (c *Cluster) Bundle(ctx context.Context, ref identity.BundleRef) ([]byte, error) {
	found, err := c.read(ctx, configMaps, ref.Namespace, ref.Name)
	if err != nil {
		return nil, err
	}
	text, ok, err := unstructured.NestedString(found.Object, "data", ref.Key)
	if err != nil {
		return nil, fmt.Errorf("the key %s: %w", ref.Key, err)
	}
	if !ok {
		return nil, fmt.Errorf("the key %s: %w", ref.Key, awsauth.ErrNotFound)
	}
	return []byte(text), nil
}

// read returns an object as it is now. The error wraps awsauth.ErrNotFound if it
// does not exist.
func (c *Cluster) read(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	if c.client == nil {
		return nil, errNoClient
	}
	f := c.follow(resource, namespace, name)
	found, known := f.last()
	if !known {
		var err error
		found, err = f.access().Get(unlogged(ctx), name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			found = nil
		case err != nil:
			return nil, err
		}
		f.told(found)
	}
	if found == nil {
		return nil, fmt.Errorf("%s %q %w", resource.Resource, name, awsauth.ErrNotFound)
	}
	return found, nil
}

// follow returns the follower of an object, and starts it if it is new. One that is not
// watched yet is as soon as there may be one watch more.
func (c *Cluster) follow(resource schema.GroupVersionResource, namespace, name string) *follower {
	ref := Reference{resource.Resource, namespace, name}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.followed[ref]
	if !ok {
		f = &follower{ref: ref, resource: resource, client: c.client, changed: c.changed}
		c.followed[ref] = f
	}
	if f.stop == nil && c.watches > 0 {
		c.watches--
		ctx, stop := context.WithCancel(c.life)
		f.stop = stop
		go f.run(ctx)
	}
	if f.used = c.now(); !c.rounds {
		c.rounds = true
		go c.makeRounds()
	}
	return f
}

// makeRounds forgets what nobody asks for, and reads what no watch tells of, until
// nothing is followed.
func (c *Cluster) makeRounds() {
	round, turn := time.NewTicker(roundTime), time.NewTicker(turnTime)
	defer round.Stop()
	defer turn.Stop()
	for {
		select {
		case <-round.C:
		case <-c.life.Done():
			return
		}
		left, is := c.forget()
		if !is {
			return
		}
		for _, f := range left {
			if f.isWatched() {
				continue
			}
			select {
			case <-turn.C:
				f.look(c.life)
			case <-c.life.Done():
				return
			}
		}
	}
}

// forget stops following what nobody asks for, and says so: a change would not be told.
// It returns what is left; without any there are no more rounds.
func (c *Cluster) forget() (left []*follower, is bool) {
	c.mu.Lock()
	now := c.now()
	var idle []*follower
	for ref, f := range c.followed {
		if now.Sub(f.used) <= idleTime {
			left = append(left, f)
			continue
		}
		idle = append(idle, f)
		if delete(c.followed, ref); f.stop != nil {
			f.stop()
			c.watches++
		}
	}
	c.rounds = len(left) > 0
	c.mu.Unlock()
	for _, f := range idle {
		c.changed(f.ref)
	}
	return left, len(left) > 0
}

// Followed is how many objects are followed, by watches or in turn.
func (c *Cluster) Followed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.followed)
}
