package issuer

import (
	"context"

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
	switch step.(type) {
	case core.HoldFinalizer:
		return keeper.Hold(ctx)
	case core.Record:
		return keeper.Record(ctx, plan.Status)
	case core.ReleaseFinalizer:
		return keeper.Release(ctx)
	}
	return a.call(ctx, step)
}
