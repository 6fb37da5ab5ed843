// Package capacity runs the controller that tells the cluster autoscaler what a
// node of a group without nodes would have, by annotations on the Machine API's
// MachineSets and on Cluster API's MachineDeployments and MachineSets. It
// observes an object and what it refers to, lets core/capacity decide, and
// performs the steps.
//
// It runs for the kinds that the cluster serves and that it may list. When those
// change, by an installation or an upgrade of one of the machine APIs, it stops
// and runs anew for the others. An object is woken by a change of itself and of
// everything that its annotations are made of: its AWSMachineTemplate, its
// Cluster, that one's AWSCluster or control plane, the Infrastructure, and what
// its credentials are made of.
//
// No pass waits for AWS: see desk.
package capacity

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/roleselector"
)

// +kubebuilder:rbac:groups=machine.openshift.io,resources=machinesets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinedeployments;machinesets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmachinetemplates;awsclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=awsmanagedcontrolplanes;rosacontrolplanes,verbs=get;list;watch
// +kubebuilder:rbac:groups=config.openshift.io,resources=infrastructures,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Options say what the controller does, and with whom.
type Options struct {
	// Decision are the options of the decision; its Migration is found out, see
	// Migration.
	Decision core.Options
	// Migration says whether machines can move between the two machine APIs; nil
	// is to find out from the schema of the MachineSet.
	Migration *bool
	// Namespace is the one whose objects are annotated; empty is all.
	Namespace string
	// DefaultRegion is where machines are that do not say it; empty for none.
	DefaultRegion string
	// Sync is how often every object is reconciled without a change; default 10
	// minutes.
	Sync time.Duration
	// Probe is how often it is looked which kinds are served; default a minute.
	Probe time.Duration
	// Limit ends a question to AWS; default a minute.
	Limit time.Duration
	// Types and Credentials are asked.
	Types       Types
	Credentials Credentials
	// Selectors say with which roles objects are managed; nil for nobody.
	Selectors Selectors
	// Process is what templates of selectors read of this process: its ClusterID and
	// ControllerNamespace.
	Process roleselector.Subject
	// AssumeRole are the administrator's settings for the roles of selectors.
	AssumeRole roleselector.Settings
	// Ages says how old the list of instance types is that is used for a region,
	// for metrics; nil for nothing.
	Ages func() map[string]time.Duration
}

func (o Options) withDefaults() Options {
	for value, otherwise := range map[*time.Duration]time.Duration{
		&o.Sync: 10 * time.Minute, &o.Probe: time.Minute, &o.Limit: time.Minute,
	} {
		if *value <= 0 {
			*value = otherwise
		}
	}
	if o.Decision.Manager == "" {
		o.Decision.Manager = core.DefaultManager
	}
	return o
}

// Request names an object to look at.
type Request struct {
	Kind core.Kind
	types.NamespacedName
}

// Controller annotates objects. There may be one at a time in a cluster: its
// lease sees to that.
type Controller struct {
	options  Options
	manager  ctrl.Manager
	prober   *prober
	recorder map[core.Kind]record.EventRecorder
	metrics  *Metrics
	current  current
	sessions *roleselector.Sessions
	// told is what the log says is served, nil for nothing yet.
	told *served
}

// Sessions is how many sessions of IAMRoleSelectors the objects ask for now.
func (c *Controller) Sessions() int { return c.sessions.Open() }

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, options Options) (*Controller, error) {
	c := &Controller{
		options: options.withDefaults(), manager: mgr, metrics: sharedMetrics(), recorder: map[core.Kind]record.EventRecorder{},
		sessions: roleselector.NewSessions(options.AssumeRole.SessionLimit),
	}
	if options.Selectors != nil {
		c.sessions.OnRoom(wakeIn(options.Selectors))
	}
	if options.Ages != nil {
		c.metrics.catalogue.of.Store(&options.Ages)
	}
	access, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client for what is served: %w", err)
	}
	discovered, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client for the schemas: %w", err)
	}
	c.prober = &prober{
		metadata: access, schemas: openapi.ToClientWithContext(discovered.OpenAPIV3()), namespace: c.options.Namespace, migration: c.options.Migration,
	}
	for _, k := range kinds {
		if k.annotated != "" {
			c.recorder[k.annotated] = mgr.GetEventRecorderFor(k.annotated.Component()) //nolint:staticcheck // only core/v1 events have the component by which people find them
		}
	}
	return c, mgr.Add(c)
}

// Start runs until the context ends. The manager calls it when this process has
// the lease.
func (c *Controller) Start(ctx context.Context) error {
	ctx = ctrl.LoggerInto(ctx, c.manager.GetLogger().WithName("capacity"))
	for ctx.Err() == nil {
		c.runWhileServed(ctx)
	}
	return nil
}

// writer writes annotations and reads nothing.
func (c *Controller) writer() client.Writer { return c.manager.GetClient() }
