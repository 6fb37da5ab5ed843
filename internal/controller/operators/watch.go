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
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// follow wakes the controller by the objects of OLM. The cache is its own, and has of each the
// names and the resourceVersion: an InstallPlan has the manifests of all that it installs.
func follow(mgr ctrl.Manager, build *builder.Builder) (cache.Cache, error) {
	notCopied, err := labels.NewRequirement(copied, selection.DoesNotExist, nil)
	if err != nil {
		return nil, err
	}
	versions := metadataOf(operator.KindCSV)
	found, err := cache.New(mgr.GetConfig(), cache.Options{
		Scheme: mgr.GetScheme(), DefaultTransform: trim,
		ByObject: map[client.Object]cache.ByObject{versions: {Label: labels.NewSelector().Add(*notCopied)}},
	})
	if err == nil {
		err = mgr.Add(found)
	}
	if err != nil {
		return nil, fmt.Errorf("make a cache of OLM's objects: %w", err)
	}
	for _, object := range []*metav1.PartialObjectMetadata{metadataOf(operator.KindSubscription), metadataOf(operator.KindPlan), versions} {
		each := source.Kind(found, object, handler.TypedEnqueueRequestsFromMapFunc(
			func(_ context.Context, changed *metav1.PartialObjectMetadata) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: changed.Namespace, Name: Name}}}
			}))
		// The start alone does not wait until the kind is served: where OLM is not installed, there is
		// nothing to do, and the process goes on.
		build.WatchesRawSource(source.Func(each.Start))
	}
	return found, nil
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
