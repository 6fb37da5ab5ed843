// Package injection runs the controller that finds the pods which run without the
// AWS identity that they should have got when they were created, and tells of each by
// an event, and of all by a metric. It also tells, by an event each, of annotations that do
// not count as they are written: the webhook warns whoever makes a pod, and that is seldom
// a person.
//
// It follows pods, ServiceAccounts and namespaces, and every few seconds examines all
// pods that are not over and have not been injected: whose ServiceAccount names no
// role costs two look-ups in a map. To follow what each change concerns would save
// that, and would be a second way to be wrong. Of each pod it keeps what the decision
// needs, and nothing of the values of variables: see Trim of core/injection.
package injection

import (
	"cmp"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	core "github.com/tabard-dev/tabard/internal/core/injection"
)

// +kubebuilder:rbac:groups="",resources=pods;serviceaccounts;namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=tabard-webhook,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Name is the controller's.
const Name = "injection"

// DefaultConfiguration is the webhook's configuration.
const DefaultConfiguration = "tabard-webhook"

// Options say how the controller runs.
type Options struct {
	// Settings are those of the webhook that decide who is injected.
	Settings core.Settings
	// Configuration is the name of the MutatingWebhookConfiguration whose hooks say
	// about whom the webhook is asked; empty means the default.
	Configuration string
	// Namespace is that of the webhook, for what people are told to type.
	Namespace string
	// Instance names this process in events.
	Instance string
	// Every is how often pods are examined; default ten seconds.
	Every time.Duration
	// Metrics are those to tell of; nil means those that the manager serves.
	Metrics *Metrics
}

// Controller looks for pods. The manager runs one in a cluster, under its lease.
type Controller struct {
	options  Options
	examiner *core.Examiner
	client   kubernetes.Interface
	known    *known
	// told are the pods that there is an event for.
	told map[types.UID]struct{}
	// toldSlips are those that there is an event for.
	toldSlips map[core.SlipKey]struct{}
	// failure is what the log said last that went wrong.
	failure string
}

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, options Options) error {
	if options.Every <= 0 {
		options.Every = 10 * time.Second
	}
	if options.Configuration == "" {
		options.Configuration = DefaultConfiguration
	}
	if options.Metrics == nil {
		options.Metrics = sharedMetrics()
	}
	examiner, err := core.New(options.Settings)
	if err != nil {
		return err
	}
	found, client, err := followCluster(mgr, examiner)
	if err != nil {
		return err
	}
	return mgr.Add(&Controller{options: options, examiner: examiner, client: client, known: found, told: map[types.UID]struct{}{}})
}

// Start runs until the context ends. The manager calls it when this process has
// the lease.
func (c *Controller) Start(ctx context.Context) error {
	ctx = ctrl.LoggerInto(ctx, ctrl.Log.WithName(Name))
	defer c.known.run(ctx)()
	if !c.known.wait(ctx) {
		return nil // it ends before anything is known
	}
	ticker := time.NewTicker(c.options.Every)
	defer ticker.Stop()
	for {
		c.say(ctx, c.options.Metrics.Pass(Name, func() error { return c.pass(ctx) }))
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// say logs what went wrong, once as long as it is the same.
func (c *Controller) say(ctx context.Context, err error) {
	text := ""
	if err != nil && ctx.Err() == nil {
		text = err.Error()
	}
	if text != "" && text != c.failure {
		log.FromContext(ctx).Error(err, "pods without identity may be missed; it is tried again")
	}
	c.failure = text
}

// pass examines all pods once.
func (c *Controller) pass(ctx context.Context) error {
	hooks, err := c.hooks(ctx)
	if err != nil {
		return err
	}
	found, err := c.find(hooks)
	c.options.Metrics.found(core.Count(found), c.known.hasNamespace)
	failed, slips := c.tell(ctx, found), c.tellSlips(ctx, c.slips(hooks))
	return cmp.Or(failed, slips, err)
}

// hooks are the webhook's.
func (c *Controller) hooks(ctx context.Context) (core.Hooks, error) {
	configuration, err := c.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, c.options.Configuration, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		configuration = nil
	case err != nil:
		return nil, fmt.Errorf("read MutatingWebhookConfiguration %s: %w", c.options.Configuration, err)
	}
	hooks, err := core.ReadHooks(configuration)
	if err != nil {
		return nil, fmt.Errorf("read MutatingWebhookConfiguration %s: %w", c.options.Configuration, err)
	}
	return hooks, nil
}

// find finds the pods without their identity. A pod that cannot be examined is left
// out: the error says which one it is.
func (c *Controller) find(hooks core.Hooks) (found []*core.Finding, problem error) {
	for _, pod := range c.known.pods.All() {
		finding, err := c.examine(pod)
		if err != nil && problem == nil {
			problem = fmt.Errorf("examine pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		if finding == nil {
			continue
		}
		// A namespace that is not known yet will be.
		if namespace := c.known.namespace(pod.Namespace); namespace != nil && hooks.Ask(namespace.Labels, pod.Labels) {
			found = append(found, finding)
		}
	}
	return found, problem
}

// examine examines one pod. One whose ServiceAccount has just been annotated is left
// for the next pass.
func (c *Controller) examine(pod *core.Pod) (*core.Finding, error) {
	account := c.known.account(pod)
	var seen time.Time
	if account != nil && c.examiner.Annotated(account) {
		var noted bool
		if seen, noted = c.known.seenAnnotated(account); !noted {
			return nil, nil
		}
	}
	return c.examiner.Examine(pod, account, seen)
}
