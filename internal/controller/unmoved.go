package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// insistence is how a write is repeated that others were faster than: about a
// second and a half, for which somebody would have to change the object between
// every reading and writing.
var insistence = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.3, Jitter: 0.5, Steps: 15}

// WhileUnmoved makes a write of an object that is locked to a resourceVersion, and
// makes it again if somebody else has changed what a decision does not go by:
// annotations, labels and whatever else is metadata. So nobody can keep a pass from
// writing by touching the object all the time. A conflict is returned if what was
// decided on has moved: the object is another one, or its spec or status differs
// from seen. Then the newer must not be overwritten by what knows less.
func (k Kit) WhileUnmoved(ctx context.Context, seen Object, write func(current Object) error) error {
	current := seen
	var conflict error
	err := wait.ExponentialBackoffWithContext(ctx, insistence, func(ctx context.Context) (bool, error) {
		conflict = write(current)
		if !apierrors.IsConflict(conflict) {
			return true, conflict
		}
		fresh := seen.DeepCopyObject().(Object)
		if err := k.Live.Get(ctx, client.ObjectKeyFromObject(seen), fresh); err != nil {
			return true, err
		}
		if moved, err := k.hasMoved(seen, fresh); moved || err != nil {
			return true, cmp.Or(err, conflict)
		}
		current = fresh
		return false, nil
	})
	if wait.Interrupted(err) {
		return cmp.Or(ctx.Err(), conflict)
	}
	return err
}

// hasMoved says that two readings of an object differ in more than metadata and what the
// kit ignores. A
// change of the spec, and the beginning of a deletion, are a new generation.
func (k Kit) hasMoved(seen, fresh Object) (bool, error) {
	if seen.GetUID() != fresh.GetUID() || seen.GetGeneration() != fresh.GetGeneration() {
		return true, nil
	}
	fresh.GetObjectKind().SetGroupVersionKind(seen.GetObjectKind().GroupVersionKind())
	patch, err := client.MergeFrom(seen).Data(fresh)
	if err != nil {
		return false, fmt.Errorf("compare %s with what was read before: %w", seen.GetName(), err)
	}
	var differs map[string]json.RawMessage
	if err := json.Unmarshal(patch, &differs); err != nil {
		return false, fmt.Errorf("compare %s with what was read before: %w", seen.GetName(), err)
	}
	delete(differs, "metadata")
	if k.IgnoreStatus {
		delete(differs, "status")
	}
	return len(differs) > 0, nil
}
