package hubaccess

import (
	"context"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// suffixIndex finds clusters by the suffix that they claim, and records by theirs.
const suffixIndex = "suffix"

// trim leaves of an object what is read of it here: with a thousand clusters the rest
// would be most of the process's memory.
func trim(object any) (any, error) {
	switch o := object.(type) {
	case *unstructured.Unstructured:
		accepted := isAccepted(o)
		o.SetManagedFields(nil)
		o.SetAnnotations(claimed(o))
		o.SetLabels(nil)
		delete(o.Object, "status")
		o.Object["spec"] = map[string]any{"hubAcceptsClient": accepted}
	case *v1alpha1.HubAccess:
		o.ManagedFields = nil
	}
	return object, nil
}

func suffixOf(o client.Object) string {
	if record, is := o.(*v1alpha1.HubAccess); is {
		if record.Spec.Access == nil {
			return ""
		}
		return record.Spec.Access.Suffix
	}
	return hub.Classify(o.GetAnnotations()).Suffix
}

func addIndexes(ctx context.Context, own cache.Cache) error {
	index := func(o client.Object) []string { return []string{suffixOf(o)} }
	for _, kind := range []client.Object{newObject(clusterKind), &v1alpha1.HubAccess{}} {
		if err := own.IndexField(ctx, kind, suffixIndex, index); err != nil {
			return err
		}
	}
	return nil
}

// watch wakes a cluster for each change of itself or its record that a decision goes by,
// and the others of the same suffix with it.
func (c *Controller) watch(run ctrlcontroller.Controller) error {
	wake := handler.EnqueueRequestsFromMapFunc(c.wokenBy)
	for _, each := range []source.Source{
		source.Kind[client.Object](c.cache, newObject(clusterKind), wake, predicate.Funcs{UpdateFunc: hasNews}),
		source.Kind[client.Object](c.cache, &v1alpha1.HubAccess{}, wake, predicate.Funcs{UpdateFunc: hasNews}),
		source.Func(c.followSetting),
	} {
		if err := run.Watch(each); err != nil {
			return err
		}
	}
	return nil
}

// hasNews says that a decision goes by what has changed: not that an agent reports on its
// cluster, nor that this controller has written a status. That a finalizer is taken off is
// seen by the next look.
func hasNews(e event.UpdateEvent) bool {
	was, now := e.ObjectOld, e.ObjectNew
	if was.GetUID() != now.GetUID() || (was.GetDeletionTimestamp() == nil) != (now.GetDeletionTimestamp() == nil) || was.GetGeneration() != now.GetGeneration() {
		return true
	}
	return !maps.Equal(claimed(was), claimed(now)) || isAccepted(was) != isAccepted(now)
}

func claimed(o client.Object) map[string]string {
	out := map[string]string{}
	for _, key := range []string{hub.ARNAnnotation, hub.SuffixAnnotation} {
		out[key] = o.GetAnnotations()[key]
	}
	return out
}

func isAccepted(o client.Object) bool {
	u, is := o.(*unstructured.Unstructured)
	return is && clusterOf(u).Accepted
}

// wokenBy are the clusters that have to look because of an object: the one of its name,
// and those of its suffix.
func (c *Controller) wokenBy(ctx context.Context, o client.Object) []reconcile.Request {
	out := []reconcile.Request{requestFor(o.GetName())}
	if suffix := suffixOf(o); suffix != "" {
		names, err := c.namesOf(ctx, suffix)
		if err != nil {
			return out // those that wait look again by themselves
		}
		for _, name := range names {
			if name != o.GetName() {
				out = append(out, requestFor(name))
			}
		}
	}
	return out
}

func requestFor(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// followSetting wakes all clusters when managed IAM is switched, until the context ends.
func (c *Controller) followSetting(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	go func() {
		tick := time.NewTicker(settingLook)
		defer tick.Stop()
		last := c.settings.get(ctx)
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now := c.settings.get(ctx); now != last && c.wakeAll(ctx, queue) {
				last = now
			}
		}
	}()
	return nil
}

// wakeAll wakes every cluster and record, and says whether all could be listed.
func (c *Controller) wakeAll(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) bool {
	clusters := &metav1.PartialObjectMetadataList{}
	clusters.SetGroupVersionKind(clusterKind.GroupVersion().WithKind(clusterKind.Kind + "List"))
	records := &v1alpha1.HubAccessList{}
	if c.kit.Live.List(ctx, clusters) != nil || c.cache.List(ctx, records) != nil {
		return false
	}
	for i := range clusters.Items {
		queue.Add(requestFor(clusters.Items[i].Name))
	}
	for i := range records.Items {
		queue.Add(requestFor(records.Items[i].Name))
	}
	return true
}
