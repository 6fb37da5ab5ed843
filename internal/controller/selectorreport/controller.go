// Package selectorreport runs the controller that says who uses each
// IAMRoleSelector, in an IAMRoleSelectorReport of the same name.
//
// It follows the metadata of all kinds of AWS services that the cluster serves and
// decides on each object itself. It does not read what the controllers of those
// kinds wrote into status: not all do, what they wrote may be of a time when the
// selectors were others, and of those that are in conflict or denied it says too
// little. What it costs is the name and the labels of each object in memory, and
// no more: see trim.
//
// Every few seconds it decides anew on all objects and writes the reports that are
// different then. That takes two or three microseconds an object and hardly depends
// on the number of selectors (BenchmarkCycle): half a percent of a core for 10,000
// objects. To follow what each change concerns would save it, and would be a second
// way for a report to become wrong.
package selectorreport

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/selectorreport"
	"github.com/tabard-dev/tabard/roleselector"
)

// The kinds of services are read by rights of their own, see
// config/manifests/role-selectors/report.yaml: their groups are the cluster's.
//
// +kubebuilder:rbac:groups=services.k8s.aws,resources=iamroleselectors,verbs=get;list;watch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=iamrolechoices,verbs=get;list;watch
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=iamroleselectorreports,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=identity.tabard.dev,resources=iamroleselectorreports/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// Name is the controller's.
const Name = "selectorreport"

// Selectors follow the cluster's IAMRoleSelectors, IAMRoleChoices and namespaces.
type Selectors interface {
	Subject(kind schema.GroupVersionKind, object client.Object) roleselector.Subject
	Index() *roleselector.Index
}

// Options say how the controller runs.
type Options struct {
	Selectors Selectors
	// Every is how often reports are written at most; default five seconds.
	Every time.Duration
	// Probe is how often it is looked which kinds are served; default a minute.
	Probe time.Duration
}

// Controller writes reports. The manager runs one in a cluster, under its lease.
type Controller struct {
	options Options
	writer  client.Client
	metrics *controller.Metrics
	kinds   *kinds
}

// Add registers the controller with a manager.
func Add(mgr ctrl.Manager, options Options) error {
	if options.Every <= 0 {
		options.Every = 5 * time.Second
	}
	if options.Probe <= 0 {
		options.Probe = time.Minute
	}
	access, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for metadata: %w", err)
	}
	found, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for the kinds: %w", err)
	}
	return mgr.Add(&Controller{
		options: options, writer: mgr.GetClient(), metrics: controller.MetricsOf(Name),
		kinds: &kinds{metadata: access, discovery: found, followed: map[schema.GroupVersionResource]*followed{}},
	})
}

// Start runs until the context ends. The manager calls it when this process has
// the lease.
func (c *Controller) Start(ctx context.Context) error {
	ctx = ctrl.LoggerInto(ctx, ctrl.Log.WithName(Name))
	defer c.kinds.stop()
	ticker := time.NewTicker(c.options.Every)
	defer ticker.Stop()
	var probed time.Time
	for {
		if time.Since(probed) >= c.options.Probe {
			probed = time.Now()
			if err := c.kinds.probe(ctx); err != nil {
				log.FromContext(ctx).Error(err, "cannot find out which kinds of services are served")
			}
		}
		err := c.metrics.Pass(Name, func() error { return c.report(ctx) })
		if err != nil && !errors.Is(err, errUnready) && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "a report could not be written; it is tried again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// errUnready says that not all is known yet. That is nothing for the log.
var errUnready = errors.New("not all selectors and kinds are known yet")

// report writes all reports that are different now. Before all is known there is
// nothing to report.
func (c *Controller) report(ctx context.Context) error {
	index := c.options.Selectors.Index()
	if !index.Ready() || !c.kinds.synced(ctx) {
		return errUnready
	}
	wanted := c.decide()
	if !index.Ready() {
		return errUnready // some of the decisions may be of a time when it was not
	}
	return c.write(ctx, wanted)
}

// decide decides on all resources, and returns what is to be reported of each
// selector, by its name.
func (c *Controller) decide() map[string]v1alpha1.IAMRoleSelectorReportStatus {
	index := c.options.Selectors.Index()
	return core.Reports(index.All(), func(yield func(roleselector.Object, roleselector.Decision) bool) {
		for kind, object := range c.kinds.objects() {
			ref := roleselector.Object{
				Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespace: object.Namespace, Name: object.Name,
			}
			if !yield(ref, index.Decide(c.query(kind, object))) {
				return
			}
		}
	})
}

// query is what the index is asked about an object. A namespace has a UID once it
// is known.
func (c *Controller) query(kind schema.GroupVersionKind, object *metav1.PartialObjectMetadata) roleselector.Query {
	subject := c.options.Selectors.Subject(kind, object)
	return roleselector.Query{
		Namespace: object.Namespace, NamespaceLabels: subject.NamespaceLabels,
		NamespaceKnown: object.Namespace == "" || subject.NamespaceUID != "",
		Group:          kind.Group, Version: kind.Version, Kind: kind.Kind,
		Labels: object.Labels, Choice: object.Annotations[services.ChoiceAnnotation],
	}
}
