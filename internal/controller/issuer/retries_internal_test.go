package issuer

import (
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// TestAFailingIssuerIsLookedAtAsOftenAsAHealthyOne: a key may wait to be published.
func TestAFailingIssuerIsLookedAtAsOftenAsAHealthyOne(t *testing.T) {
	limiter, request := retries(), reconcile.Request{}
	var last time.Duration
	for range 1000 {
		if last = limiter.When(request); last > 30*time.Second || last < time.Second {
			t.Fatalf("it is tried again after %s, want between a second and half a minute", last)
		}
	}
	if last != 30*time.Second {
		t.Errorf("after many failures it is tried again after %s, want 30s", last)
	}
}

// TestAStepThatNobodyKnowsIsTerminal: no repetition makes it known.
func TestAStepThatNobodyKnowsIsTerminal(t *testing.T) {
	if err := (AWS{}).Perform(t.Context(), core.Record{}); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("it ended with %v, want a terminal error", err)
	}
}
