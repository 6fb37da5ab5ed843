package capacity

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/awsauth/kube"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// Indexes, by which a change finds the objects that it concerns without looking
// through all of them. All are within a namespace.
const (
	bySecret   = "secret"
	byTemplate = "template"
	byCluster  = "cluster"
	// byRegion is GROUP/KIND/NAME of what says a Cluster's region.
	byRegion = "region"
)

// index adds a kind's indexes to its cache.
func index(ctx context.Context, to cache.Cache, k *kind) error {
	var indexes map[string]func(*object) string
	switch k {
	case machineAPISet:
		indexes = map[string]func(*object) string{bySecret: func(o *object) string { return core.SecretName(objectOf(k, o)) }}
	case machineDeployment, machineSet:
		indexes = map[string]func(*object) string{
			byTemplate: func(o *object) string {
				ref, _ := core.TemplateRef(objectOf(k, o))
				return ref.Name
			},
			byCluster: func(o *object) string { return o.Spec.ClusterName },
		}
	case cluster:
		indexes = map[string]func(*object) string{byRegion: regionKeyOf}
	}
	for name, value := range indexes {
		err := to.IndexField(ctx, &object{}, name, func(o client.Object) []string {
			if found, ok := o.(*object); ok && value(found) != "" {
				return []string{value(found)}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func regionKeyOf(o *object) string {
	ref, ok := core.RegionRef(core.Object{Namespace: o.Namespace}, clusterOf(o))
	if !ok {
		return ""
	}
	return regionKey(ref.Group(), ref.Kind, ref.Name)
}

func regionKey(group, kind, name string) string { return group + "/" + kind + "/" + name }

// sources are what wakes the run.
func (r *run) sources() []source.TypedSource[Request] {
	out := []source.TypedSource[Request]{
		source.TypedFunc[Request](func(_ context.Context, queue workqueue.TypedRateLimitingInterface[Request]) error {
			r.queue = queue
			r.current.set(r)
			return nil
		}),
	}
	for k, from := range r.caches {
		out = append(out, source.TypedKind(from, &object{}, handler.TypedEnqueueRequestsFromMapFunc(r.affected(k)), news(k)))
		if r.options.Selectors != nil && k.annotated != "" {
			out = append(out, waking{r.options.Selectors.Source(r.served.of(k)), k.annotated})
		}
	}
	return out
}

// news lets through what may change a decision. Of objects that are annotated
// that is also the cache's regular look, which changes nothing.
func news(k *kind) predicate.TypedPredicate[*object] {
	return predicate.TypedFuncs[*object]{UpdateFunc: func(e event.TypedUpdateEvent[*object]) bool {
		if e.ObjectOld.ResourceVersion == e.ObjectNew.ResourceVersion {
			return k.annotated != ""
		}
		return isNews(e.ObjectOld, e.ObjectNew)
	}}
}

// affected finds the objects that a change concerns.
func (r *run) affected(k *kind) func(context.Context, *object) []Request {
	switch k {
	case infrastructure:
		return func(ctx context.Context, _ *object) []Request {
			return r.find(ctx, machineAPISet, client.ListOptions{})
		}
	case machineTemplate:
		return func(ctx context.Context, o *object) []Request { return r.members(ctx, byTemplate, o.Namespace, o.Name) }
	case cluster:
		return func(ctx context.Context, o *object) []Request { return r.members(ctx, byCluster, o.Namespace, o.Name) }
	}
	if k.annotated != "" {
		return func(_ context.Context, o *object) []Request {
			return []Request{{k.annotated, client.ObjectKeyFromObject(o)}}
		}
	}
	return func(ctx context.Context, o *object) []Request {
		var out []Request
		for _, name := range r.names(ctx, cluster, where(o.Namespace, byRegion, regionKey(k.Group, k.Kind, o.Name))) {
			out = append(out, r.members(ctx, byCluster, name.Namespace, name.Name)...)
		}
		return out
	}
}

// all are all objects that may be annotated.
func (r *run) all(ctx context.Context) (out []Request) {
	for _, k := range kinds {
		if k.annotated != "" {
			out = append(out, r.find(ctx, k, client.ListOptions{})...)
		}
	}
	return out
}

// members are the objects of Cluster API that an index leads to.
func (r *run) members(ctx context.Context, index, namespace, value string) []Request {
	options := where(namespace, index, value)
	return append(r.find(ctx, machineDeployment, options), r.find(ctx, machineSet, options)...)
}

func where(namespace, index, value string) client.ListOptions {
	var options client.ListOptions
	client.MatchingFields{index: value}.ApplyToList(&options)
	options.Namespace = namespace
	return options
}

// find asks a cache for objects to look at.
func (r *run) find(ctx context.Context, k *kind, options client.ListOptions) []Request {
	var out []Request
	for _, name := range r.names(ctx, k, options) {
		out = append(out, Request{k.annotated, name})
	}
	return out
}

func (r *run) names(ctx context.Context, k *kind, options client.ListOptions) []types.NamespacedName {
	from, watched := r.caches[k]
	if !watched {
		return nil
	}
	var list objectList
	if err := from.List(ctx, &list, &options); err != nil {
		// Only if the process ends: every watched kind has its informer.
		log.FromContext(ctx).Error(err, "cannot find out whom a change concerns", "kind", k.GroupKind.String())
		return nil
	}
	out := make([]types.NamespacedName, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return out
}

// Changed tells of an object that credentials are made of: it wakes those that
// it may concern. It returns at once.
func (c *Controller) Changed(what kube.Reference) {
	if r := c.current.get(); r != nil { // else a run is still to begin, with all objects
		r.desk.clear()
		go r.wake(what)
	}
}

// wake waits until the caches are filled, at most until the run ends.
func (r *run) wake(what kube.Reference) {
	var concerned []Request
	if what.Resource == "secrets" {
		concerned = r.find(r.life, machineAPISet, where(what.Namespace, bySecret, what.Name))
	} else {
		concerned = r.all(r.life)
	}
	for _, request := range concerned {
		r.queue.Add(request)
	}
}
