// Package credentials reads what is told of CredentialsRequests, for the command line and the console: the
// requests, Tabard's records of them, and what the cluster is. What it means internal/core/credentials
// says.
package credentials

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

// Cluster is what is asked.
type Cluster struct {
	client.Reader
	// Facts says what the cluster is.
	Facts func(context.Context) (platform.Facts, error)
	// Now is the time.
	Now func() time.Time
}

// Seen is what was read of a cluster.
type Seen struct {
	Facts platform.Facts
	// Namespace is that of the requests; empty for all.
	Namespace string
	// Requests are in the order of their namespaces and names.
	Requests []cloudv1.CredentialsRequest
	// Unread says that the person may not read the grants.
	Unread bool
	// Now is the cluster's.
	Now    func() time.Time
	grants map[string]*v1alpha1.CredentialsGrant
}

// The kinds that are listed.
const (
	Requests = "CredentialsRequests"
	Grants   = "CredentialsGrants"
)

// Unlisted is the error of a list that was not read.
type Unlisted struct {
	// Kind is Requests or Grants.
	Kind string
	// Err is what the cluster said.
	Err error
}

// Error says what to do about it.
func (e *Unlisted) Error() string {
	if meta.IsNoMatchError(e.Err) {
		return fmt.Sprintf("this cluster serves no %s: apply Tabard's CRDs, config/crd, first: %v", e.Kind, e.Err)
	}
	return fmt.Sprintf("read the %s: %v", e.Kind, e.Err)
}

// Unwrap is Err.
func (e *Unlisted) Unwrap() error { return e.Err }

// Read reads requests and grants, of one namespace or of all. With own, a person who may not read grants
// goes on with the requests' own status.
func (c Cluster) Read(ctx context.Context, namespace string, own bool) (*Seen, error) {
	requests, err := c.In(ctx, namespace)
	if err != nil {
		return nil, err
	}
	out, err := c.About(ctx, requests, own)
	if err != nil {
		return nil, err
	}
	out.Namespace = namespace
	return out, nil
}

// In are the requests of one namespace, or of all, of which the name is empty.
func (c Cluster) In(ctx context.Context, namespace string) ([]cloudv1.CredentialsRequest, error) {
	var requests cloudv1.CredentialsRequestList
	if err := c.List(ctx, &requests, client.InNamespace(namespace)); err != nil {
		return nil, &Unlisted{Kind: Requests, Err: err}
	}
	return requests.Items, nil
}

// About reads what requests are judged by, which need not be of one namespace.
func (c Cluster) About(ctx context.Context, requests []cloudv1.CredentialsRequest, own bool) (*Seen, error) {
	out := &Seen{Requests: requests, Now: c.Now, grants: map[string]*v1alpha1.CredentialsGrant{}}
	var err error
	if out.Facts, err = c.Facts(ctx); err != nil {
		return nil, err
	}
	var grants v1alpha1.CredentialsGrantList
	switch err := c.List(ctx, &grants); {
	case own && apierrors.IsForbidden(err):
		out.Unread = true
	case err != nil && !meta.IsNoMatchError(err):
		return nil, &Unlisted{Kind: Grants, Err: err}
	}
	for i := range grants.Items {
		out.grants[grants.Items[i].Name] = &grants.Items[i]
	}
	slices.SortFunc(out.Requests, func(a, b cloudv1.CredentialsRequest) int {
		return strings.Compare(a.Namespace+"\x00"+a.Name, b.Namespace+"\x00"+b.Name)
	})
	return out, nil
}

// World is a request's as far as was read: enough to say who acts.
func (s *Seen) World(request *cloudv1.CredentialsRequest) core.World {
	return core.World{
		Request: request, Grant: s.grants[core.GrantName(request.Namespace, request.Name)],
		Provider: core.DecodeProvider(request), Platform: s.Facts, Now: s.Now(),
	}
}

// Row says what is known of a request: by its grant, or by itself to who may not read grants.
func (s *Seen) Row(w core.World) core.Row {
	if s.Unread {
		return core.OwnRow(w)
	}
	return core.RowOf(w)
}
