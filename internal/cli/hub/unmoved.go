package hub

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// whileUnmoved makes a write that is locked to the resourceVersion of what it is given, and makes it
// again with the object as it is then, if only its status or metadata has changed: the operators and
// the API server write those at any time. seen is the object that was decided on. If the object is
// another one since, or its spec has changed, the error says to run the command again.
func whileUnmoved(ctx context.Context, cluster client.Reader, seen *unstructured.Unstructured, write func(current *unstructured.Unstructured) error) error {
	current := seen
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		conflict := write(current)
		if !apierrors.IsConflict(conflict) {
			return conflict
		}
		fresh := &unstructured.Unstructured{}
		fresh.SetGroupVersionKind(seen.GroupVersionKind())
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(seen), fresh); client.IgnoreNotFound(err) != nil {
			return err
		}
		if fresh.GetUID() != seen.GetUID() || fresh.GetGeneration() != seen.GetGeneration() {
			// Not wrapped: a conflict would be tried again.
			return fmt.Errorf("the %s %s was changed by somebody else in between: run the command again (%s)", seen.GetKind(), seen.GetName(), conflict.Error())
		}
		current = fresh
		return conflict
	})
}
