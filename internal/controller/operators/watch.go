package operators

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// copied is the label of the copies that OLM makes of a ClusterServiceVersion in the namespaces
// that its operator watches.
const copied = "olm.copiedFrom"

// metadataOf is the metadata of an object of a kind of OLM.
func metadataOf(kind operator.Kind) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	out.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: string(kind)})
	return out
}

// follow wakes the controller by the objects of OLM. The caches are its own, and have of each object
// the names and the resourceVersion: an InstallPlan has the manifests of all that it installs. What is
// returned has the plans.
func follow(mgr ctrl.Manager, build *builder.Builder) (cache.Cache, error) {
	notCopied, err := labels.NewRequirement(copied, selection.DoesNotExist, nil)
	if err != nil {
		return nil, err
	}
	found, err := newCache(mgr, nil)
	if err != nil {
		return nil, err
	}
	// A selector of one kind in a cache of several needs the kind to be served when the cache is made.
	versions, err := newCache(mgr, labels.NewSelector().Add(*notCopied))
	if err != nil {
		return nil, err
	}
	for kind, of := range map[operator.Kind]cache.Cache{operator.KindSubscription: found, operator.KindPlan: found, operator.KindCSV: versions} {
		each := source.Kind(of, metadataOf(kind), handler.TypedEnqueueRequestsFromMapFunc(
			func(_ context.Context, changed *metav1.PartialObjectMetadata) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: changed.Namespace, Name: Name}}}
			}))
		// The start alone does not wait until the kind is served: where OLM is not installed, there is
		// nothing to do, and the process goes on.
		build.WatchesRawSource(source.Func(each.Start))
	}
	return found, nil
}

// newCache makes a cache that the manager runs.
func newCache(mgr ctrl.Manager, selector labels.Selector) (cache.Cache, error) {
	out, err := cache.New(mgr.GetConfig(), cache.Options{Scheme: mgr.GetScheme(), DefaultTransform: trim, DefaultLabelSelector: selector})
	if err == nil {
		err = mgr.Add(out)
	}
	if err != nil {
		return nil, fmt.Errorf("make a cache of OLM's objects: %w", err)
	}
	return out, nil
}

// trim leaves what the controller goes by.
func trim(object any) (any, error) {
	if found, is := object.(*metav1.PartialObjectMetadata); is {
		found.ObjectMeta = metav1.ObjectMeta{
			Namespace: found.Namespace, Name: found.Name, UID: found.UID,
			ResourceVersion: found.ResourceVersion, CreationTimestamp: found.CreationTimestamp, Labels: kept(found.Labels),
		}
	}
	return object, nil
}

// kept is the label that the cache selects by.
func kept(all map[string]string) map[string]string {
	if value, is := all[copied]; is {
		return map[string]string{copied: value}
	}
	return nil
}
