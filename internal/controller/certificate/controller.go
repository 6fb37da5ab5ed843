// Package certificate runs the controller that keeps the webhook's serving
// certificate and makes the API servers trust it. It observes two Secrets, its own and
// what it publishes of that for the webhook, and one webhook configuration, lets
// core/certificate decide, and performs one step a pass: what comes next depends on
// what the step made. Changes of these objects wake it; between them it looks when a certificate is due. A second configuration
// that the webhook serves, for validation, is made to trust the same.
//
// Another controller of the kind keeps the certificate of another webhook beside it, with
// Secrets, a configuration and dry-run pods of its own: OCM says which.
//
// A new authority is proved by dry runs: a pod that is never stored is created
// through every API server, and comes back with the fingerprint of the
// certificate that this API server has just accepted.
package certificate

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=tabard-webhook-authority;tabard-webhook-cert,verbs=get;list;watch;update,namespace=tabard-certificate
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create,namespace=tabard-certificate
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=tabard-webhook-cert,verbs=get,namespace=tabard-system
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=tabard-webhook,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=tabard-role-selectors,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list,namespace=default
// +kubebuilder:rbac:groups="",resources=pods,verbs=create,namespace=tabard-probe
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Names of what the controller keeps, unless the options say otherwise.
const (
	DefaultSecret        = "tabard-webhook-cert"
	DefaultAuthority     = "tabard-webhook-authority"
	DefaultConfiguration = "tabard-webhook"
	DefaultValidating    = "tabard-role-selectors"
)

// defaultName is the controller's name, unless the options say otherwise.
const defaultName = "certificate"

// Options say what to keep where.
type Options struct {
	// Name is the controller's, by which its metrics, its log and its events are told
	// from another's; empty means certificate.
	Name string
	// Host reaches the cluster that the webhook runs in, where its Secret is;
	// nil means the manager's, the cluster served.
	Host *rest.Config
	// Namespace is where the Secrets are.
	Namespace string
	// Authority, Secret, Configuration and Validating are the names of the Secret with
	// the authority's key, of the one that the webhook reads, of the
	// MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration, which
	// need not be there; empty means the defaults. With another Configuration there is
	// no default for Validating: empty means that none follows.
	Authority, Secret, Configuration, Validating string
	// Probe is the value of the label tabard.dev/probe of the dry-run pods, by which no
	// other configuration's probe hook knows them; empty means certificate.
	Probe string
	// ProbeAccount is the ServiceAccount of dry-run pods that get no identity; empty
	// means tabard-probe, whose pods must come back with one.
	ProbeAccount string
	// Beside says that this is not the process's only controller of certificates: what
	// it may not read keeps the process from nothing.
	Beside bool
	// Previous is the one Secret of an earlier version, to go on from as long as
	// there is none of Tabard's in Namespace; empty for none.
	Previous types.NamespacedName
}

// OCM are the options of the certificate of the webhook for Open Cluster Management,
// with the Secrets in a namespace of the cluster that host reaches.
func OCM(host *rest.Config, namespace string) Options {
	return Options{
		Name: "certificate-ocm", Host: host, Namespace: namespace,
		Authority: "tabard-ocm-authority", Secret: "tabard-ocm-cert", Configuration: "tabard-ocm",
		Probe: "ocm", ProbeAccount: "tabard-ocm-probe", Beside: true,
	}
}

// Controller keeps one serving certificate. It must not run concurrently with
// itself; the manager sees to that, and its lease.
type Controller struct {
	// Host holds the Secrets, Served the webhook configurations. Both read past
	// any cache, so that no pass works on what the pass before has replaced.
	Host, Served client.Client
	// Authority is the Secret with everything, Secret what of it the webhook reads,
	// Previous the one of an earlier version, with an empty name for none.
	Authority, Secret, Previous types.NamespacedName
	// Configuration is kept, Validating follows; empty for none that follows.
	Configuration, Validating string
	// Probe creates the dry-run pods, with ProbeValue as their label tabard.dev/probe;
	// empty means certificate.
	Probe      Prober
	ProbeValue string
	// Events tells people what happens, and of problems.
	Events events.EventRecorder
	// Metrics count and measure.
	Metrics *Metrics
	// Now is the clock, Entropy the source of randomness.
	Now     func() time.Time
	Entropy io.Reader

	// memory is what was seen before.
	memory core.Memory
	// told is the reason of the last notice, so that each is told once.
	told string
}

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, o Options) error {
	if o.Namespace == "" {
		return errors.New("no namespace for the Secret with the webhook's certificate: expected Tabard's own")
	}
	if o.Host == nil {
		o.Host = mgr.GetConfig()
	}
	c := o.controller(mgr)
	if err := c.connect(mgr, o.Host); err != nil {
		return err
	}
	c.Probe = DryRuns{Metrics: c.Metrics, Now: time.Now, Account: o.ProbeAccount, Servers: func(ctx context.Context) ([]controller.APIServer, error) {
		return controller.APIServers(ctx, c.Served, mgr.GetConfig())
	}}
	sources, err := c.watches(mgr, o.Host)
	if err != nil {
		return err
	}
	build := ctrl.NewControllerManagedBy(mgr).Named(either(o.Name, defaultName))
	for _, each := range sources {
		if o.Beside {
			each = unawaited{each}
		}
		build = build.WatchesRawSource(each)
	}
	return controller.Run(build, controller.Measured(c.Metrics.Metrics, c))
}

// controller is one by the options, without its clients.
func (o Options) controller(mgr ctrl.Manager) *Controller {
	c := &Controller{
		Authority:     types.NamespacedName{Namespace: o.Namespace, Name: either(o.Authority, DefaultAuthority)},
		Secret:        types.NamespacedName{Namespace: o.Namespace, Name: either(o.Secret, DefaultSecret)},
		Previous:      o.Previous,
		Configuration: either(o.Configuration, DefaultConfiguration),
		Validating:    o.Validating,
		ProbeValue:    o.Probe,
		Events:        mgr.GetEventRecorder(either(o.Name, defaultName)),
		Metrics:       sharedMetrics(),
		Now:           time.Now,
		Entropy:       rand.Reader,
	}
	if c.Configuration == DefaultConfiguration {
		c.Validating = either(o.Validating, DefaultValidating)
	} else {
		c.Metrics = c.Metrics.Beside(controller.MetricsOf(o.Name), c.Configuration)
	}
	return c
}

func either(chosen, otherwise string) string {
	if chosen != "" {
		return chosen
	}
	return otherwise
}

// request is the one thing there is to reconcile, whichever object changed.
func (c *Controller) request() []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: c.Configuration}}}
}

// Reconcile is one pass. Without a configuration nothing wakes the controller, and
// nobody need hear that it has not looked for long: its webhook is turned off.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seen, err := c.observe(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := core.Decide(seen.world)
	c.Metrics.observed(plan.Phase, seen.authority.Data)
	if plan.Phase == core.Absent {
		c.Metrics.Forget(request)
	}
	c.tell(ctx, seen, plan.Notice)
	again := c.follow(ctx, seen.world)
	outcome := controller.Perform(ctx, c.Metrics.Metrics, c.work(seen, plan))
	if outcome.Err != nil { // the follower has no part in when that is tried again
		return reconcile.Result{RequeueAfter: outcome.Again}, outcome.Err
	}
	return reconcile.Result{RequeueAfter: earlier(outcome.Again, again)}, nil
}

// tell announces a notice when it comes up.
func (c *Controller) tell(ctx context.Context, seen observation, notice core.Notice) {
	if notice.Reason != c.told && notice.Reason != "" {
		c.announce(ctx, &seen.configuration, notice)
	}
	c.told = notice.Reason
}

// announce makes an event of a notice, and a line in the log.
func (c *Controller) announce(ctx context.Context, configuration client.Object, notice core.Notice) {
	kind := corev1.EventTypeNormal
	if notice.Warning {
		kind = corev1.EventTypeWarning
	}
	log.FromContext(ctx).Info(notice.Note, "reason", notice.Reason)
	c.Events.Eventf(configuration, nil, kind, notice.Reason, "Maintain", "%s", controller.Shorten(notice.Note, "the operator's log"))
}
