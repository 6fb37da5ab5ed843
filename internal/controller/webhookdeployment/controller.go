// Package webhookdeployment runs the controller that keeps what
// config/manifests/webhook.yaml has of the webhook: its Deployment, Services,
// PodDisruptionBudget and hooks. It watches each by name, and what the Cloud Credential
// Operator has of the same kinds; a pass reads all of them past any cache, lets
// core/webhookdeployment decide, and makes the steps.
//
// As certificate, it keeps one thing that is several objects and has no status, so that
// it is no typed reconciler and has controller.Measured alone (decision 11).
package webhookdeployment

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
)

// Each right is to a name. A create by server-side apply names its object, so that it
// can be limited too; no other create passes.
//
// +kubebuilder:rbac:groups=apps,resources=deployments,resourceNames=tabard-webhook,verbs=get;list;watch;create;patch,namespace=tabard-system
// +kubebuilder:rbac:groups="",resources=services,resourceNames=tabard-webhook;tabard-webhook-probe,verbs=get;list;watch;create;patch,namespace=tabard-system
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,resourceNames=tabard-webhook,verbs=get;list;watch;create;patch;delete,namespace=tabard-system
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=tabard-webhook,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=pod-identity-webhook,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,resourceNames=pod-identity-webhook,verbs=get;list;watch
// +kubebuilder:rbac:groups=config.openshift.io,resources=infrastructures,resourceNames=cluster,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Name is the controller's.
const Name = "webhookdeployment"

// Options say what the webhook is made of.
type Options struct {
	// Settings are the manifest and what is put in.
	Settings core.Settings
	// Metrics are those to tell of; nil means those that the manager serves.
	Metrics *Metrics
}

// Controller keeps one webhook. It must not run concurrently with itself; the manager
// sees to that, and its lease.
type Controller struct {
	kit     controller.Kit
	wanted  core.Wanted
	metrics *Metrics
	// told is the reason of the last notice, so that each is told once.
	told core.Reason
}

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, options Options) error {
	wanted, err := core.Want(options.Settings)
	if err != nil {
		return err
	}
	if options.Metrics == nil {
		options.Metrics = sharedMetrics()
	}
	c := &Controller{kit: controller.NewKit(mgr, Name, ""), wanted: wanted, metrics: options.Metrics, told: core.Kept}
	build := ctrl.NewControllerManagedBy(mgr).Named(Name).WatchesRawSource(source.Func(first))
	for _, id := range append(append([]core.ID(nil), wanted.IDs...), theirDeployment, theirConfiguration) {
		each, err := watch(mgr, id)
		if err != nil {
			return err
		}
		build = build.WatchesRawSource(each)
	}
	return controller.Run(build, controller.Measured(c.metrics.Metrics, c))
}

// Reconcile is one pass.
func (c *Controller) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	world, err := c.observe(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := core.Decide(world)
	c.tell(ctx, plan.Notice)
	outcome := controller.Perform(ctx, c.metrics.Metrics, controller.Work[core.Step]{Steps: plan.Steps, Again: core.Again, Do: c.perform})
	return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
}

// tell announces a notice when it comes up, about the webhook's Deployment.
func (c *Controller) tell(ctx context.Context, notice core.Notice) {
	c.metrics.now(notice.Reason)
	if notice.Reason != c.told {
		kind := corev1.EventTypeWarning
		if notice.Reason == core.Kept {
			kind = corev1.EventTypeNormal
		}
		about := empty(core.ID{Kind: core.Deployment, Namespace: c.wanted.Namespace, Name: "tabard-webhook"})
		c.announce(ctx, about, kind, string(notice.Reason), notice.Note)
	}
	c.told = notice.Reason
}

// announce makes an event about an object, whether it is there or not, and a line in
// the log.
func (c *Controller) announce(ctx context.Context, about client.Object, kind, reason, note string) {
	log.FromContext(ctx).Info(note, "reason", reason)
	c.kit.Events.Eventf(about, nil, kind, reason, "Maintain", "%s", controller.Shorten(note, "the operator's log"))
}

// perform makes one step. A conflict means that somebody else wrote in between.
func (c *Controller) perform(ctx context.Context, step core.Step) error {
	var err error
	switch step := step.(type) {
	case core.Create:
		err = c.create(ctx, step)
	case core.Change:
		err = c.change(ctx, step)
	case core.Delete:
		err = c.remove(ctx, step)
	default:
		return controller.UnknownStep(step)
	}
	if err != nil {
		return fmt.Errorf("perform %T: %w", step, err)
	}
	return nil
}
