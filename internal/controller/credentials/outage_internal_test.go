package credentials

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/outage"
)

// busy is an IAM that throttles.
type busy struct {
	Roles
	aws *outage.AWS
}

func (b busy) PutPolicy(context.Context, identity.Identity, string, string, string) error {
	return b.aws.Call()
}

func (b busy) DeleteRole(context.Context, identity.Identity, string, cloud.Tag) error {
	return b.aws.Call()
}

// TestAnHourOfThrottling has AWS throttle a step for a request that lives, and for one
// that goes.
func TestAnHourOfThrottling(t *testing.T) {
	for name, step := range map[string]core.Step{"lives": core.PutPolicy{}, "goes": core.DeleteRole{}} {
		t.Run(name, func(t *testing.T) {
			outage.Check(t, func(aws *outage.AWS) outage.Paced[reconcile.Request] {
				options := Options{AWS: AWS{Roles: busy{aws: aws}}, Now: time.Now}
				c := &Controller{
					options: options, kit: controller.Kit{Metrics: controller.NewMetrics(prometheus.NewRegistry(), Name)},
					changes: &changes{limiter: rate.NewLimiter(rate.Inf, 1)}, roles: newInventory(options, nil),
				}
				return controller.Measured(c.kit.Metrics, reconcile.Func(func(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
					world := core.World{Request: &cloudv1.CredentialsRequest{}, Grant: &v1alpha1.CredentialsGrant{}, Now: time.Now()}
					pass := &pass{Controller: c, key: key, world: world, plan: &core.Plan{Steps: []core.Step{step}, Again: time.Second}}
					outcome := pass.perform(ctx)
					return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
				}))
			})
		})
	}
}
