package hubaccess

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// observe reads all of a cluster but AWS.
func (c *Controller) observe(ctx context.Context, name string) (core.World, error) {
	w := core.World{Name: name, Setting: c.settings.get(ctx), Tags: c.options.Flags.Tags, Now: c.options.Now()}
	cluster := newObject(clusterKind)
	if there, err := isThere(c.kit.Live.Get(ctx, client.ObjectKey{Name: name}, cluster)); err != nil {
		return w, err
	} else if there {
		w.Cluster = clusterOf(cluster)
	}
	record := &v1alpha1.HubAccess{}
	if there, err := isThere(c.kit.Live.Get(ctx, client.ObjectKey{Name: name}, record)); err != nil {
		return w, err
	} else if there {
		w.Record = record
	}
	switch over := w.Record != nil && core.IsOver(w.Record, w.Cluster); {
	case w.Record != nil && w.Record.Spec.Access != nil:
		if over {
			w.Works = c.works(ctx, name)
		}
		return w, nil // the others count only for who is to be given access
	case over: // works count only for access that is to go
		return w, nil
	}
	var err error
	w.Others, err = c.others(ctx, w)
	return w, err
}

func isThere(err error) (bool, error) {
	return err == nil, client.IgnoreNotFound(err)
}

// errBehind is that the cache does not show yet what a pass has read past it. Another
// cluster of the same suffix could be hidden then.
var errBehind = errors.New("the cache does not show the cluster as it is yet")

// others are the clusters that have, or claim, the suffix that this one claims. A pass
// that sees its own cluster in the cache sees all that were accepted before.
func (c *Controller) others(ctx context.Context, w core.World) ([]core.Other, error) {
	own, claims := core.OtherOf(w.Name, w.Setting, w.Cluster, w.Record)
	if !claims {
		return nil, nil
	}
	names, err := c.namesOf(ctx, own.Suffix)
	if err != nil {
		return nil, err
	}
	var out []core.Other
	seen := false
	for _, name := range names {
		other, is, err := c.cached(ctx, name, w.Setting)
		if err != nil {
			return nil, err
		}
		if is && other.Suffix == own.Suffix {
			out = append(out, other)
		}
		seen = seen || is && name == w.Name
	}
	if !seen {
		return nil, errBehind
	}
	return out, nil
}

// namesOf are the names of all clusters and records with a suffix, by the cache.
func (c *Controller) namesOf(ctx context.Context, suffix string) ([]string, error) {
	clusters, records := newList(clusterKind), &v1alpha1.HubAccessList{}
	which := client.MatchingFields{suffixIndex: suffix}
	if err := errors.Join(c.cache.List(ctx, clusters, which, client.UnsafeDisableDeepCopy), c.cache.List(ctx, records, which, client.UnsafeDisableDeepCopy)); err != nil {
		return nil, err
	}
	var names []string
	for i := range clusters.Items {
		names = append(names, clusters.Items[i].GetName())
	}
	for i := range records.Items {
		names = append(names, records.Items[i].Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// cached is what a cluster is to the others, by the cache.
func (c *Controller) cached(ctx context.Context, name string, setting hub.Setting) (core.Other, bool, error) {
	var cluster *core.Cluster
	var record *v1alpha1.HubAccess
	o, r := newObject(clusterKind), &v1alpha1.HubAccess{}
	there, err := isThere(c.cache.Get(ctx, types.NamespacedName{Name: name}, o))
	if there {
		cluster = clusterOf(o)
	}
	recorded, wrong := isThere(c.cache.Get(ctx, types.NamespacedName{Name: name}, r))
	if recorded {
		record = r
	}
	other, is := core.OtherOf(name, setting, cluster, record)
	return other, is, errors.Join(err, wrong)
}

// works are what has to go before the access of a cluster does, read past the cache: what
// is not seen is deleted by nobody.
func (c *Controller) works(ctx context.Context, namespace string) core.Works {
	var out core.Works
	for _, kind := range []schema.GroupVersionKind{workKind, addonKind} {
		items, err := c.listWorks(ctx, kind, namespace)
		if err != nil {
			return core.Works{Trouble: err.Error()}
		}
		out.Items = append(out.Items, items...)
	}
	return out
}

func (c *Controller) listWorks(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]core.Work, error) {
	var out []core.Work
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := controller.Each(ctx, c.kit.Live, list, namespace, func(object runtime.Object) error {
		item := object.(*metav1.PartialObjectMetadata) //nolint:forcetypeassert // of such a list
		out = append(out, core.Work{Name: kind.Kind + " " + item.Name, Created: item.CreationTimestamp.Time, AddOn: kind == addonKind})
		return nil
	})
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) { // a hub that does not serve the kind has none
		return nil, nil
	}
	return out, err
}
