package catalogd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// catalogs are the catalogues of OLM v1.
var catalogs = schema.GroupVersionResource{Group: "olm.operatorframework.io", Version: "v1", Resource: "clustercatalogs"}

// ErrNoClusterCatalogs is a cluster that does not serve ClusterCatalogs: it is without OLM v1.
var ErrNoClusterCatalogs = errors.New("this cluster has no OLM v1: it does not serve clustercatalogs.olm.operatorframework.io/v1")

// Forbidden says that the person may not list ClusterCatalogs.
type Forbidden struct{ err error }

// Error names the right that is missing, and what grants it.
func (f *Forbidden) Error() string {
	return fmt.Sprintf("the right to list %[1]s is missing: the API server says: %[2]s. Who administers the cluster can grant it: "+
		"kubectl create clusterrole clustercatalogs-view --verb=get,list --resource=%[1]s && "+
		"kubectl create clusterrolebinding clustercatalogs-view --clusterrole=clustercatalogs-view --user=NAME", catalogs.GroupResource(), line.Of(f.err.Error()))
}

// Unwrap is the API server's refusal.
func (f *Forbidden) Unwrap() error { return f.err }

// Cluster reads the ClusterCatalogs of one cluster. It keeps what it has read as Reader does,
// for each ClusterCatalog that the cluster has.
type Cluster struct {
	list   dynamic.ResourceInterface
	server *url.URL
	client *http.Client

	mutex   sync.Mutex
	readers map[string]*Reader
}

// NewCluster reads as whom the config says. Its time-out does not count, since it would be of
// the whole body: the context of Read ends a read.
func NewCluster(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for ClusterCatalogs: %w", err)
	}
	list, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("make a client for ClusterCatalogs: %w", err)
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for ClusterCatalogs: %w", err)
	}
	return &Cluster{list: list.Resource(catalogs), server: server, client: client, readers: map[string]*Reader{}}, nil
}

// Read reads the ClusterCatalog with this name, or all, and of each the package with this name,
// or all. A ClusterCatalog that cannot be read is a finding SourceNotRead.
//
// The error is ErrNoClusterCatalogs, *Forbidden, or what failed on the way. What is in the
// packages is shared with later reads, and must not be changed.
func (c *Cluster) Read(ctx context.Context, catalogue, pkg string) (model.Catalogue, error) {
	list, err := c.list.List(ctx, metav1.ListOptions{})
	if err != nil {
		return model.Catalogue{}, refusedList(ctx, err)
	}
	c.forget(list.Items)
	var read model.Catalogue
	found := false
	for i := range list.Items {
		item := &list.Items[i]
		if catalogue != "" && catalogue != item.GetName() {
			continue
		}
		found = true
		one, err := c.one(ctx, item, pkg)
		if ctx.Err() != nil {
			return model.Catalogue{}, fmt.Errorf("the cluster's catalogues could not be read in time: %w", context.Cause(ctx))
		}
		if err != nil {
			one.Findings = []model.Finding{{Code: model.SourceNotRead, Where: model.Where{Source: source(item)}, Message: line.Of(err.Error())}}
		}
		read = model.Merge(read, one)
	}
	if catalogue != "" && !found {
		return model.Catalogue{}, fmt.Errorf("the cluster has no ClusterCatalog %s; these it has: kubectl get clustercatalogs", model.Quoted(catalogue))
	}
	return read, nil
}

func refusedList(ctx context.Context, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return &Forbidden{err}
	case apierrors.IsNotFound(err):
		return ErrNoClusterCatalogs
	case ctx.Err() != nil:
		return fmt.Errorf("the cluster did not answer in time: %w", context.Cause(ctx))
	}
	return told{"list the ClusterCatalogs of the cluster: ", err}
}

func source(item *unstructured.Unstructured) model.Source {
	return model.Source{Kind: model.ClusterCatalog, Name: item.GetName()}
}

// one reads one ClusterCatalog.
func (c *Cluster) one(ctx context.Context, item *unstructured.Unstructured, pkg string) (model.Catalogue, error) {
	if err := serving(item); err != nil {
		return model.Catalogue{}, err
	}
	base, _, _ := unstructured.NestedString(item.Object, "status", "urls", "base") // Another type is no URL.
	at, err := placeOf(base)
	if err != nil {
		return model.Catalogue{}, err
	}
	read, err := c.reader(item, at).Read(ctx, pkg)
	if isCode(err, http.StatusForbidden) {
		return model.Catalogue{}, at.forbidden(err)
	}
	return read, err
}

// reader is the one of the ClusterCatalog, with what it keeps, as long as the place is the same.
func (c *Cluster) reader(item *unstructured.Unstructured, at place) *Reader {
	through := c.server.JoinPath(at.proxied())
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if r := c.readers[item.GetName()]; r != nil && *r.base == *through {
		return r
	}
	r := newReader(through, c.client, noRedirect)
	r.source, r.called = source(item), at.path
	c.readers[item.GetName()] = r
	return r
}

// forget drops what is kept of ClusterCatalogs that are gone.
func (c *Cluster) forget(items []unstructured.Unstructured) {
	there := make(map[string]bool, len(items))
	for i := range items {
		there[items[i].GetName()] = true
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for name := range c.readers {
		if !there[name] {
			delete(c.readers, name)
		}
	}
}
