package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Keeper keeps one object during a pass: its finalizer and its status. Each write is
// locked to what the pass has read, see WhileUnmoved.
type Keeper[T Object] struct {
	kit    Kit
	stored T
}

// Keep is the keeper of an object as it was read.
func Keep[T Object](kit Kit, stored T) *Keeper[T] { return &Keeper[T]{kit: kit, stored: clone(stored)} }

func clone[T Object](object T) T { return object.DeepCopyObject().(T) }

// Hold adds the finalizer.
func (k *Keeper[T]) Hold(ctx context.Context) error {
	return k.patch(ctx, func(o T) { controllerutil.AddFinalizer(o, k.kit.Finalizer) })
}

// Release removes the finalizer.
func (k *Keeper[T]) Release(ctx context.Context) error {
	return k.patch(ctx, func(o T) { controllerutil.RemoveFinalizer(o, k.kit.Finalizer) })
}

func (k *Keeper[T]) patch(ctx context.Context, change func(T)) error {
	return k.kit.WhileUnmoved(ctx, k.stored, func(current Object) error {
		wanted := clone(current.(T))
		change(wanted)
		lock := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
		if err := k.kit.Client.Patch(ctx, wanted, lock, client.FieldOwner(k.kit.Owner)); err != nil {
			return err
		}
		k.stored = wanted
		return nil
	})
}

// Record writes the status now, if set changes it, and makes an event of each
// condition that changes. A conflict is returned: somebody else wrote what the pass
// went by, so it must observe again.
func (k *Keeper[T]) Record(ctx context.Context, set func(T)) error {
	wanted := clone(k.stored)
	set(wanted)
	if equality.Semantic.DeepEqual(k.stored, wanted) {
		return nil
	}
	err := k.kit.WhileUnmoved(ctx, k.stored, func(current Object) error {
		base := clone(k.stored)
		base.SetResourceVersion(current.GetResourceVersion())
		wanted.SetResourceVersion(current.GetResourceVersion())
		lock := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		return k.kit.Client.Status().Patch(ctx, wanted, lock, client.FieldOwner(k.kit.Owner))
	})
	if err != nil {
		return fmt.Errorf("write status of %s: %w", wanted.GetName(), err)
	}
	k.kit.announce(ctx, wanted, k.stored.GetConditions(), wanted.GetConditions())
	k.stored = wanted
	return nil
}
