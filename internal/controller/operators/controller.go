// Package operators runs the controller that watches InstallPlans of the Operator Lifecycle Manager
// (OLM, version 0) which wait for an approval. It notes on each whether the roles of the operators
// are enough for the versions that the plan installs, tells it by events of the Subscriptions, and
// tells where a role is not enough for the version that is installed. It never approves a plan.
//
// It follows the metadata of OLM's objects alone, and a pass is one over a namespace, which reads
// what it judges past any cache: Subscriptions, the plans that may wait, and one plan's manifests
// after the other. What a pass reads and asks AWS is bounded, whatever a namespace holds, and a
// namespace whose objects change all the time gets a pass once in a while: see Options.Pace.
//
// As webhookdeployment, it writes no status, so that it is no typed reconciler and has
// controller.Measured alone (decision 11).
package operators

import (
	"context"
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// The ConfigMaps with unpacked bundles are read where a Role of the catalogue's namespace lets it:
// see the manifest. No Secret is read.
//
// +kubebuilder:rbac:groups=operators.coreos.com,resources=subscriptions;clusterserviceversions,verbs=get;list;watch
// +kubebuilder:rbac:groups=operators.coreos.com,resources=installplans,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=config.openshift.io,resources=authentications,resourceNames=cluster,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Name is the controller's.
const Name = "operators"

// OLM reads and writes the objects of the Operator Lifecycle Manager, past any cache.
type OLM interface {
	// Issuer is that of the cluster's tokens; empty where it is not known.
	Issuer(ctx context.Context) (string, error)
	// First are the Subscriptions of a namespace, a number of them at most.
	First(ctx context.Context, namespace string, most int) ([]operator.Subscription, error)
	// Waiting is a plan, and where it waits the versions that it installs, and why one of them could
	// not be read, both by name. A plan that is gone does not wait.
	Waiting(ctx context.Context, namespace, name string) (operator.Plan, map[string]catalogue.Bundle, map[string]string, error)
	// Upgrade is what is known of one operator of a plan, beside its role and the issuer.
	Upgrade(ctx context.Context, namespace string, all []operator.Subscription, next catalogue.Bundle) (u operator.Upgrade, warning string, err error)
	// Live is the same of an operator that is installed; there is none until it is Succeeded.
	Live(ctx context.Context, s operator.Subscription) (u operator.Upgrade, is bool, err error)
	// Note writes the annotation of a plan as it was read; operator.ErrChanged where it was changed since.
	Note(ctx context.Context, namespace string, plan operator.Plan, checked string) error
	// Tell writes an event, unless there is one of its name.
	Tell(ctx context.Context, t operator.Told) error
}

// Options say how the controller runs.
type Options struct {
	OLM OLM
	// Roles reads the policies of a role in AWS. Where it is nil, WithoutRoles says why.
	Roles        func(ctx context.Context, arn string) (sufficiency.Documents, error)
	WithoutRoles string
	// Recheck is how often a role is read again without a change in the cluster; default five
	// minutes.
	Recheck time.Duration
	// Pace is the shortest time between two passes over a namespace; default ten seconds.
	Pace time.Duration
	// Metrics are those to tell of; nil means those that the manager serves.
	Metrics *Metrics
}

// Controller watches plans. It must not run concurrently with itself; the manager sees to that, and
// its lease.
type Controller struct {
	options  Options
	metadata client.Reader
	roles    *roles
	metrics  *Metrics
	// namespaces is what is remembered of each with objects of OLM.
	namespaces map[string]*memory
}

// memory is what is remembered of a namespace.
type memory struct {
	// began is when the last pass did.
	began time.Time
	// settled are the plans that do not wait: their resourceVersion, by UID.
	settled map[string]string
	// told are the names of the events about roles that are out of sync. The API server forgets
	// an event after an hour.
	told map[string]bool
	// waiting counts the plans that wait.
	waiting map[operator.Verdict]int
}

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, options Options) error {
	if options.Recheck <= 0 {
		options.Recheck = 5 * time.Minute
	}
	if options.Pace <= 0 {
		options.Pace = 10 * time.Second
	}
	if options.Metrics == nil {
		options.Metrics = sharedMetrics()
	}
	build := ctrl.NewControllerManagedBy(mgr).Named(Name)
	found, err := follow(mgr, build)
	if err != nil {
		return err
	}
	c := &Controller{options: options, metadata: found, roles: newRoles(options), metrics: options.Metrics, namespaces: map[string]*memory{}}
	return controller.Run(build, controller.Measured(c.metrics.Metrics, c))
}

// Reconcile is one pass over a namespace.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	remembered, rest := c.turn(request.Namespace)
	if rest > 0 {
		return reconcile.Result{}, controller.Wait(rest)
	}
	p := pass{Controller: c, namespace: request.Namespace, memory: remembered}
	err := p.run(ctx)
	if p.empty {
		delete(c.namespaces, request.Namespace)
		c.metrics.Forget(request)
	}
	c.metrics.waiting(c.namespaces)
	if errors.Is(err, errBusy) {
		return reconcile.Result{}, controller.Wait(c.options.Pace)
	}
	return reconcile.Result{RequeueAfter: p.again}, err
}

// turn is what is remembered of a namespace, and how long its next pass has to wait.
func (c *Controller) turn(namespace string) (*memory, time.Duration) {
	known := c.namespaces[namespace]
	if known == nil {
		known = &memory{settled: map[string]string{}, told: map[string]bool{}}
		c.namespaces[namespace] = known
	}
	now := time.Now()
	if rest := known.began.Add(c.options.Pace).Sub(now); rest > 0 {
		return known, rest
	}
	known.began = now
	return known, 0
}

// perform makes one step. A plan that was changed in between wakes the controller by itself.
func (p *pass) perform(ctx context.Context, step operator.Step) error {
	var err error
	switch step := step.(type) {
	case operator.Told:
		log.FromContext(ctx).Info(step.Note, "reason", step.Reason, "subscription", step.Subscription.Name)
		err = p.options.OLM.Tell(ctx, step)
	case operator.Note:
		err = p.options.OLM.Note(ctx, p.namespace, step.Plan, step.Text)
		if errors.Is(err, operator.ErrChanged) {
			err = nil
		}
	default:
		return controller.UnknownStep(step)
	}
	if err != nil {
		return fmt.Errorf("perform %T: %w", step, err)
	}
	return nil
}
