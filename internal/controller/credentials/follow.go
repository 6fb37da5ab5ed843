package credentials

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// Followed are the clients by which the served cluster is followed.
type Followed struct {
	Metadata metadata.Interface
	Dynamic  dynamic.Interface
}

// FollowedBy makes the clients of a configuration.
func FollowedBy(config *rest.Config) (out Followed, err error) {
	if out.Metadata, err = metadata.NewForConfig(config); err != nil {
		return out, fmt.Errorf("make a client for metadata: %w", err)
	}
	if out.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return out, fmt.Errorf("make a client for Tabard's kinds: %w", err)
	}
	return out, nil
}

// followers follow what wakes the controller, but for Secrets. Requests are many and may be
// large.
func (f Followed) followers(k *known) []follower {
	kind := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	return []follower{
		ofMetadata(f.Metadata.Resource(cloudv1.GroupVersion.WithResource("credentialsrequests")), "credentialsrequests", k.requests, requestMark),
		ofMetadata(f.Metadata.Resource(kind("namespaces")), "namespaces", k.namespaces, trimNamespace),
		ofMetadata(f.Metadata.Resource(kind("serviceaccounts")), "serviceaccounts", accounts{k}, accountMark),
		ofKind(f.Dynamic, "credentialsgrants", k.grants, markOfGrant),
		ofKind(f.Dynamic, "credentialsboundaries", k.boundaries, bare[*v1alpha1.CredentialsBoundary]),
		ofKind(f.Dynamic, "oidcissuers", k.issuers, bare[*v1alpha1.OIDCIssuer]),
	}
}

func ofMetadata[T any](client follow.Client[*metav1.PartialObjectMetadataList], resource string, into follow.Sink[T], trim func(*metav1.PartialObjectMetadata) T) follower {
	return follow.Of(client, follow.Options[T]{
		Sink: into, Failed: says(resource),
		Trim: func(o runtime.Object) (T, error) {
			return trim(o.(*metav1.PartialObjectMetadata)), nil //nolint:forcetypeassert // the client's
		},
	})
}

// ofKind follows a kind of Tabard's.
func ofKind[T, K any](client dynamic.Interface, resource string, into follow.Sink[T], trim func(*K) T) follower {
	return follow.Of(client.Resource(v1alpha1.GroupVersion.WithResource(resource)), follow.Options[T]{
		Sink: into, Failed: says(resource),
		Trim: func(o runtime.Object) (out T, err error) {
			var typed K
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.(*unstructured.Unstructured).Object, &typed) //nolint:forcetypeassert // the client's
			if err != nil {
				return out, fmt.Errorf("%s: %w", resource, err)
			}
			return trim(&typed), nil
		},
	})
}

// says logs why a resource cannot be followed. It is tried again.
func says(resource string) func(error) {
	return func(err error) {
		ctrl.Log.WithName(Name).Error(err, "cannot follow what requests depend on", "resource", resource)
	}
}

// accounts is the sink of the ServiceAccounts that requests write. It keeps nothing.
type accounts struct{ known *known }

func (a accounts) target(m mark) core.Target {
	return core.Target{Kind: core.KindServiceAccount, Namespace: m.name.Namespace, Name: m.name.Name}
}

// Replace implements follow.Sink. What went while nothing was followed is not among the
// objects.
func (a accounts) Replace(objects []mark) {
	there := map[core.Target]bool{}
	for _, m := range objects {
		there[a.target(m)] = true
		a.Set(m)
	}
	a.known.mu.Lock()
	var gone []core.Target
	for target := range a.known.byTarget {
		if target.Kind == core.KindServiceAccount && !there[target] {
			gone = append(gone, target)
		}
	}
	a.known.mu.Unlock()
	for _, target := range gone {
		a.known.targetChanged(target, 0)
	}
}

// Set implements follow.Sink.
func (a accounts) Set(m mark) { a.known.targetChanged(a.target(m), m.digest) }

// Delete implements follow.Sink.
func (a accounts) Delete(m mark) { a.known.targetChanged(a.target(m), 0) }

func requestMark(o *metav1.PartialObjectMetadata) mark {
	return markOf(o, fmt.Sprint(o.UID, o.Generation, o.DeletionTimestamp, o.Finalizers), sorted(o.Annotations))
}

func accountMark(o *metav1.PartialObjectMetadata) mark {
	return markOf(o, string(o.UID), fmt.Sprint(o.DeletionTimestamp), o.Annotations[core.RoleAnnotation], o.Annotations[core.RequestAnnotation])
}

// secretMark is a Secret's: who changes its data changes its version.
func secretMark(o metav1.Object) mark {
	return markOf(o, string(o.GetUID()), o.GetResourceVersion())
}

func markOf(o metav1.Object, parts ...string) mark {
	sum := fnv.New64a()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part) // a hash takes all
	}
	return mark{types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, sum.Sum64(), o.GetCreationTimestamp().Unix()}
}

func sorted(values map[string]string) string {
	var out string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		out += fmt.Sprintf("%q%q", key, values[key])
	}
	return out
}

func trimNamespace(o *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: o.Name, Labels: o.Labels, DeletionTimestamp: o.DeletionTimestamp}}
}

func markOfGrant(g *v1alpha1.CredentialsGrant) grantMark {
	request := types.NamespacedName{Namespace: g.Spec.Request.Namespace, Name: g.Spec.Request.Name}
	return grantMark{
		mark:    markOf(g, fmt.Sprint(g.UID, g.Generation, g.DeletionTimestamp, g.Finalizers), g.Annotations[core.ResyncAnnotation]),
		request: request, resync: g.Annotations[core.ResyncAnnotation], state: grantState(g), holds: core.Holds(g),
	}
}

func bare[T metav1.Object](o T) T {
	o.SetManagedFields(nil)
	return o
}
