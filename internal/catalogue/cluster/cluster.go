// Package cluster lists the PackageManifests of a cluster: the catalogues that OLM v0 serves
// there, as its package server shows them. It only lists; nothing can be watched, and a list has
// megabytes, so nobody may ask in a loop. Its functions may be used by several goroutines at
// once.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// packages are what the package server serves.
var packages = schema.GroupVersionResource{Group: "packages.operators.coreos.com", Version: "v1", Resource: "packagemanifests"}

// olmGroup is the group of OLM v0 itself.
const olmGroup = "operators.coreos.com"

// Query is which PackageManifests to list. The zero value is all of the cluster.
type Query struct {
	// Namespace is where an operator is to be installed: its own catalogues are listed and the
	// global ones. Empty are the catalogues of all namespaces.
	Namespace string
	// Wanted narrows the list, at the server already.
	Wanted catalogue.Wanted
}

// Reader lists the PackageManifests of one cluster.
type Reader struct {
	client rest.Interface
	most   int64
}

// NewReader reads by any REST client of the cluster. A time-out of the client counts for the
// whole answer, so it should have none: the context of Read ends a list. At most so many bytes of
// an answer are read; 0 is a GiB.
func NewReader(client rest.Interface, most int64) Reader { return Reader{client, most} }

// NewClient is a client for NewReader.
func NewClient(config *rest.Config) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config = rest.CopyConfig(config)
	version := packages.GroupVersion()
	config.GroupVersion, config.APIPath, config.Timeout = &version, "/apis", 0
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for PackageManifests: %w", err)
	}
	return client, nil
}

// Read lists the PackageManifests. What is wrong with one of them is a finding. The error is
// ErrNoOLM, ErrNoPackageServer, *Forbidden, catalogue.ErrTooLarge, or what failed on the way.
func (r Reader) Read(ctx context.Context, q Query) (model.Catalogue, error) {
	body, err := r.ask(ctx, q)
	if err != nil {
		return model.Catalogue{}, err
	}
	defer func() { _ = body.Close() }() // It was only read.
	read, err := catalogue.Manifests{Wanted: q.Wanted, Most: r.most}.Read(ctx, body)
	switch {
	case errors.Is(err, catalogue.ErrTooLarge):
		return model.Catalogue{}, fmt.Errorf("%w; ask for one package, or for one CatalogSource", err)
	case err != nil && ctx.Err() != nil:
		return model.Catalogue{}, fmt.Errorf("the cluster's answer did not end in time: %w", context.Cause(ctx))
	case err != nil:
		return model.Catalogue{}, told{"", err}
	}
	return read, nil
}

func (r Reader) ask(ctx context.Context, q Query) (io.ReadCloser, error) {
	if wrong := validation.IsDNS1123Label(q.Namespace); q.Namespace != "" && wrong != nil {
		return nil, fmt.Errorf("%s is no name of a namespace: %s", model.Quoted(q.Namespace), strings.Join(wrong, "; "))
	}
	request := r.client.Get().AbsPath("/apis", packages.Group, packages.Version).
		NamespaceIfScoped(q.Namespace, q.Namespace != "").Resource(packages.Resource).
		SetHeader("Accept", runtime.ContentTypeJSON)
	if q.Wanted.Package != "" {
		request.Param("fieldSelector", fields.OneTermEqualSelector(metav1.ObjectNameField, q.Wanted.Package).String())
	}
	set := labels.Set{}
	for label, value := range map[string]string{"catalog": q.Wanted.Catalogue, "catalog-namespace": q.Wanted.CatalogueNamespace} {
		if value != "" {
			set[label] = value
		}
	}
	if len(set) > 0 {
		selector, err := set.AsValidatedSelector()
		if err != nil {
			return nil, fmt.Errorf("%s is no CatalogSource that can be selected: %w", model.Quoted(q.Wanted.CatalogueNamespace+"/"+q.Wanted.Catalogue), told{"", err})
		}
		request.Param("labelSelector", selector.String())
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, r.refused(ctx, q, err)
	}
	return body, nil
}

// refused is the error of a list that was not answered, with what to do.
func (r Reader) refused(ctx context.Context, q Query, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return &Forbidden{Namespace: q.Namespace, err: err}
	case apierrors.IsNotFound(err):
		return r.notServed(ctx)
	case apierrors.IsServiceUnavailable(err):
		return told{"", fmt.Errorf("%w: %w", ErrNoPackageServer, err)}
	case ctx.Err() != nil:
		return fmt.Errorf("the cluster did not answer in time: %w", context.Cause(ctx))
	}
	return told{"list the PackageManifests of the cluster: ", err}
}

// notServed tells a cluster without OLM from one whose package server is not there.
func (r Reader) notServed(ctx context.Context) error {
	err := r.client.Get().AbsPath("/apis", olmGroup).Do(ctx).Error()
	switch {
	case err == nil:
		return ErrNoPackageServer
	case apierrors.IsNotFound(err):
		return ErrNoOLM
	}
	return fmt.Errorf("the cluster does not serve %s, and whether it has OLM is unknown: %w", packages.GroupVersion(), told{"", err})
}
