package carm

import (
	"iter"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// unknownNamespace stands for the namespaces that are not there yet. No
// namespace can have the name.
const unknownNamespace = "any other namespace"

// element is one thing for which both sides must say the same.
type element struct {
	controller *Controller
	namespace  Namespace
	kind       schema.GroupVersionKind
	// resource is nil for a kind in a namespace as such.
	resource *Resource
}

// object is the element as selectors see it.
func (e element) object() Object {
	o := Object{Kind: e.kind, Namespace: e.namespace.Name, NamespaceLabels: e.namespace.Labels}
	if e.resource != nil {
		o.Labels = e.resource.Labels
	}
	return o
}

// ownerAccount is the account in the resource's status.
func (e element) ownerAccount() string {
	if e.resource == nil {
		return ""
	}
	return e.resource.OwnerAccount
}

// world is what both sides are asked about.
type world struct {
	cluster     Cluster
	controllers []Controller
	namespaces  map[string]Namespace
}

func newWorld(cluster Cluster, controllers []Controller) (*world, error) {
	if err := Validate(cluster, controllers); err != nil {
		return nil, err
	}
	w := &world{cluster: cluster, controllers: controllers, namespaces: map[string]Namespace{}}
	for _, n := range cluster.Namespaces {
		w.namespaces[n.Name] = n
	}
	return w, nil
}

// carm is what CARM says of an element.
func (w *world) carm(e element) Resolution {
	return w.resolve(e.controller, e.namespace, e.ownerAccount())
}

func (w *world) resolve(c *Controller, namespace Namespace, owner string) Resolution {
	return c.Resolve(w.cluster.Maps[c.SystemNamespace], namespace, owner)
}

// scope yields each controller with each namespace that it reconciles.
func (w *world) scope() iter.Seq2[*Controller, Namespace] {
	return func(yield func(*Controller, Namespace) bool) {
		for i := range w.controllers {
			for _, n := range w.cluster.Namespaces {
				if w.controllers[i].reconciles(n.Name) && !yield(&w.controllers[i], n) {
					return
				}
			}
		}
	}
}

// kinds yields every kind of every controller in every namespace that it
// reconciles, and in namespaces to come as far as selectors can tell them apart.
func (w *world) kinds(selectors []v1alpha1.IAMRoleSelector) iter.Seq[element] {
	others := unknownNamespaces(selectors)
	return func(yield func(element) bool) {
		each := func(c *Controller, n Namespace) bool {
			for _, kind := range c.Kinds {
				if !yield(element{controller: c, namespace: n, kind: kind}) {
					return false
				}
			}
			return true
		}
		for c, n := range w.scope() {
			if !each(c, n) {
				return
			}
		}
		for i := range w.controllers {
			c := w.controllers[i]
			if len(c.WatchNamespaces) == 1 {
				continue // none will come
			}
			c.WatchNamespaces = nil // the next to come is one of those
			for _, n := range others {
				if !each(&c, n) {
					return
				}
			}
		}
	}
}

// resources yields every resource of every controller that reconciles it.
func (w *world) resources() iter.Seq[element] {
	return func(yield func(element) bool) {
		for i := range w.cluster.Resources {
			r := &w.cluster.Resources[i]
			for j := range w.controllers {
				c := &w.controllers[j]
				if c.Group != r.Kind.Group || !c.reconciles(r.Namespace) {
					continue
				}
				if !yield(element{controller: c, namespace: w.namespaces[r.Namespace], kind: r.Kind, resource: r}) {
					return
				}
			}
		}
	}
}

// unknownNamespaces are namespaces to come: one without labels, and one for each
// set of labels that a selector asks for. Those that carry a label of the label
// mode carry the annotation that it was copied from.
func unknownNamespaces(selectors []v1alpha1.IAMRoleSelector) []Namespace {
	found := []Namespace{{Name: unknownNamespace}}
	for i := range selectors {
		spec := selectors[i].Spec
		if spec == nil || spec.NamespaceSelector == nil {
			continue
		}
		n := Namespace{Name: unknownNamespace, Labels: satisfying(spec.NamespaceSelector.LabelSelector)}
		known := slices.ContainsFunc(found, func(other Namespace) bool { return maps.Equal(other.Labels, n.Labels) })
		if known {
			continue
		}
		n.Annotations = map[string]string{
			OwnerAccountAnnotation: n.Labels[OwnerAccountLabel], TeamAnnotation: n.Labels[TeamLabel],
		}
		found = append(found, n)
	}
	return found
}

// satisfying are labels with which a selector holds, if any hold; nil if it asks
// for none.
func satisfying(selector *v1alpha1.LabelSelector) map[string]string {
	if selector == nil {
		return nil
	}
	labels := maps.Clone(selector.MatchLabels)
	for _, term := range selector.MatchExpressions {
		value := ""
		switch {
		case term.Operator == metav1.LabelSelectorOpIn && len(term.Values) > 0:
			value = term.Values[0]
		case term.Operator != metav1.LabelSelectorOpExists:
			continue
		}
		if labels == nil {
			labels = map[string]string{}
		}
		if _, there := labels[term.Key]; !there {
			labels[term.Key] = value
		}
	}
	return labels
}
