package stage

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/awsauth/metric"
	"github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/controller/capacity"
)

// Controller is the controller in this process, with all that its program has
// around it but its ports.
type Controller struct {
	*capacity.Controller
	cancel context.CancelFunc
	ended  chan error
}

// Start runs the controller. Nobody looks at objects regularly: that would be by
// the real clock.
func (s *Stage) Start(ctx context.Context, environment map[string]string, types instancetype.Options) (*Controller, error) {
	config := rest.CopyConfig(s.Config)
	config.Impersonate.UserName = user
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard()})
	if err != nil {
		return nil, err
	}
	access, err := dynamic.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &Controller{cancel: cancel, ended: make(chan error, 1)}
	var source *instancetype.Types
	changed := func(ref kube.Reference) {
		source.Forgive()
		c.Changed(ref)
	}
	auth, err := awsauth.New(awsauth.Options{
		Getenv: func(name string) string { return environment[name] }, Now: s.Now, TokenFiles: []string{s.TokenFile},
		Source: kube.New(ctx, kube.Options{Client: access, Changed: changed, Now: s.Now}), Observer: metric.New("tabard"),
	})
	if err != nil {
		cancel()
		return nil, err
	}
	types.Now = s.Now
	source = instancetype.New(auth, types)
	c.Controller, err = capacity.Add(mgr, capacity.Options{
		Types: source, Credentials: capacity.Identities{Environment: auth.Environment()},
		DefaultRegion: auth.Region(), Sync: 24 * time.Hour, Ages: source.Ages,
	})
	if err != nil {
		cancel()
		return nil, err
	}
	go func() { c.ended <- mgr.Start(ctx) }()
	return c, nil
}

// Stop ends the controller and waits for its end.
func (c *Controller) Stop() error {
	c.cancel()
	return <-c.ended
}

// Passes is how many passes controllers have made in this process: the counter is
// there with the first of them.
func Passes() (int, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return 0, err
	}
	for _, family := range families {
		if family.GetName() != PassesMetric {
			continue
		}
		total := 0.0
		for _, each := range family.GetMetric() {
			total += each.GetCounter().GetValue()
		}
		return int(total), nil
	}
	return 0, nil
}

// PassesMetric is the controller's counter of its passes.
const PassesMetric = "tabard_capacity_passes_total"
