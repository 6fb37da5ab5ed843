package issuer

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/outage"
)

// TestAFailingIssuerIsLookedAtAsOftenAsAHealthyOne: a key may wait to be published.
func TestAFailingIssuerIsLookedAtAsOftenAsAHealthyOne(t *testing.T) {
	limiter, request := (&Controller{}).passes(), reconcile.Request{}
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

// busy is an S3 that throttles.
type busy struct {
	Buckets
	aws *outage.AWS
}

func (b busy) SetPublicAccess(context.Context, identity.Identity, cloud.Bucket, cloud.PublicAccess) error {
	return b.aws.Call()
}

func (b busy) Delete(context.Context, identity.Identity, cloud.Bucket, cloud.Tag) error {
	return b.aws.Call()
}

// TestAnHourOfThrottling has AWS throttle a step of an issuer that lives, and of one that
// goes.
func TestAnHourOfThrottling(t *testing.T) {
	for name, step := range map[string]core.Step{"lives": core.SetPublicAccess{}, "goes": core.DeleteBucket{}} {
		t.Run(name, func(t *testing.T) {
			outage.Check(t, func(aws *outage.AWS) outage.Paced[reconcile.Request] {
				c := &Controller{
					Kit:      controller.Kit{Metrics: controller.NewMetrics(prometheus.NewRegistry(), "issuer")},
					Observer: &Observer{AWS: AWS{Buckets: busy{aws: aws}}},
				}
				passes := controller.Measured(c.Kit.Metrics, reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
					world := core.World{Issuer: &v1alpha1.OIDCIssuer{}, Now: time.Now()}
					outcome := c.perform(ctx, nil, world, &core.Plan{Steps: []core.Step{step}, Again: time.Second})
					return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
				}))
				passes.Longest = c.passes().Longest
				return passes
			})
		})
	}
}

// TestAStepThatNobodyKnowsIsTerminal: no repetition makes it known.
func TestAStepThatNobodyKnowsIsTerminal(t *testing.T) {
	if err := (AWS{}).Perform(t.Context(), core.Record{}); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("it ended with %v, want a terminal error", err)
	}
}
