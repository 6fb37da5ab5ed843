package capacity_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kit "github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/capacity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit/outage"
)

// TestAnHourOfThrottling has AWS throttle the question about an object. No step asks AWS:
// the decision alone chooses the times.
func TestAnHourOfThrottling(t *testing.T) {
	outage.Check(t, func(aws *outage.AWS) outage.Paced[capacity.Request] {
		world := core.World{
			Object: core.Object{
				Kind: core.MachineAPIMachineSet, Namespace: "openshift-machine-api", Name: "workers", Version: "7",
				ProviderSpec: []byte(`{"kind":"AWSMachineProviderConfig","instanceType":"m5.large","placement":{"region":"us-east-1"}}`),
			},
			Answer: instancetype.Answer{State: instancetype.Found, Type: instancetype.Type{Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architecture: "amd64"}},
		}
		metrics := kit.NewMetrics(prometheus.NewRegistry(), "capacity")
		return kit.Measured(metrics, reconcile.TypedFunc[capacity.Request](func(context.Context, capacity.Request) (reconcile.Result, error) {
			asks := world
			asks.Fault = kit.FaultOf(aws.Call())
			plan := core.Decide(asks)
			world.Memory = plan.Memory
			return reconcile.Result{RequeueAfter: plan.Again}, nil
		}))
	})
}
