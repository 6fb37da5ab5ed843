// Package kube answers awsauth's questions from a cluster: what a Secret holds,
// which certificates a ConfigMap has, and what OpenShift's Infrastructure says
// of region and endpoints. Each object that was asked for is followed by a watch
// of its own, for its name alone: there is no informer over all Secrets, and
// the right to get, list and watch that one object (resourceNames in RBAC) is
// enough. With the right to get alone each question is one read.
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
	// maxFollowed bounds the watches. The object that was asked for the longest
	// ago is followed no longer.
	maxFollowed = 256
	// idleTime is how long an object is followed that nobody asks for.
	idleTime = time.Hour
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
	// changed, made or gone. It must not wait. Nil is nobody.
	Changed func(Reference)
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
}

var _ awsauth.Source = (*Cluster)(nil)

var errNoClient = errors.New("there is no client to read the cluster with; set Options.Client of awsauth/kube")

// New makes a Cluster. Its watches end with the context.
func New(ctx context.Context, options Options) *Cluster {
	c := &Cluster{
		client: options.Client, changed: options.Changed, now: options.Now, life: ctx, followed: map[Reference]*follower{},
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

// follow returns the follower of an object, and starts it if it is new.
func (c *Cluster) follow(resource schema.GroupVersionResource, namespace, name string) *follower {
	now := c.now()
	ref := Reference{resource.Resource, namespace, name}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.followed[ref]
	if !ok {
		c.forget(now)
		ctx, stop := context.WithCancel(c.life)
		f = &follower{ref: ref, resource: resource, client: c.client, changed: c.changed, stop: stop}
		c.followed[ref] = f
		go f.run(ctx)
	}
	f.used = now
	return f
}

// forget stops following what nobody asks for, and makes room for one more.
func (c *Cluster) forget(now time.Time) {
	var oldest *follower
	for _, f := range c.followed {
		if now.Sub(f.used) > idleTime {
			c.drop(f)
		} else if oldest == nil || f.used.Before(oldest.used) {
			oldest = f
		}
	}
	if len(c.followed) >= maxFollowed {
		c.drop(oldest)
	}
}

func (c *Cluster) drop(f *follower) {
	f.stop()
	delete(c.followed, f.ref)
}

// Followed is how many objects are followed.
func (c *Cluster) Followed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.followed)
}
