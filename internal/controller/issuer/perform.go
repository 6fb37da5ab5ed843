package issuer

import (
	"context"
	"fmt"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// Keeper holds the object itself: in a cluster, or in memory for a bootstrap
// that runs before there is one.
type Keeper interface {
	// Hold adds the finalizer.
	Hold(ctx context.Context) error
	// Record stores a status now.
	Record(ctx context.Context, status v1alpha1.OIDCIssuerStatus) error
	// Release removes the finalizer.
	Release(ctx context.Context) error
}

// Perform makes one step true. It is idempotent: a step that was already
// performed succeeds.
func (a AWS) Perform(ctx context.Context, keeper Keeper, plan core.Plan, step core.Step) error {
	switch s := step.(type) {
	case core.HoldFinalizer:
		return keeper.Hold(ctx)
	case core.Record:
		return keeper.Record(ctx, plan.Status)
	case core.ReleaseFinalizer:
		return keeper.Release(ctx)
	case core.CreateBucket:
		return a.Buckets.Create(ctx, s)
	case core.SetPublicAccess:
		return a.Buckets.SetPublicAccess(ctx, s)
	case core.PutDocument:
		return a.Buckets.PutDocument(ctx, s)
	case core.PutBucketPolicy:
		return a.Buckets.PutPolicy(ctx, s)
	case core.DeleteDocument:
		return a.Buckets.DeleteDocument(ctx, s)
	case core.SetTombstone:
		return a.Buckets.SetTombstone(ctx, s)
	case core.DeleteBucket:
		return a.Buckets.Delete(ctx, s)
	case core.CreateProvider:
		return a.Providers.Create(ctx, s)
	case core.AddAudience:
		return a.Providers.AddAudience(ctx, s)
	case core.RemoveAudience:
		return a.Providers.RemoveAudience(ctx, s)
	case core.DeleteProvider:
		return a.Providers.Delete(ctx, s)
	}
	return fmt.Errorf("step %T is not known: this is a bug", step)
}
