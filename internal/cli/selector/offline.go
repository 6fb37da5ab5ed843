package selector

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// bundle is what files hold.
type bundle struct {
	world     *world
	resources []resource
	// namespace is that of objects that name none.
	namespace string
	// unlabelled says that namespaces that are not there have no labels.
	unlabelled bool
	seen       map[string]bool
	// ignored are kinds that decide nothing.
	ignored map[string]int
}

// add sorts objects in. What is given twice is refused, because one of the two is
// wrong.
func (b *bundle) add(objects []unstructured.Unstructured) error {
	var others []unstructured.Unstructured
	for i := range objects {
		o := &objects[i]
		var err error
		switch o.GroupVersionKind() {
		case selectorKind:
			if err = b.once(o); err == nil {
				err = b.world.addSelector(o, true)
			}
		case namespaceKind:
			if err = b.once(o); err == nil {
				b.world.namespaces[o.GetName()] = labelsOf(o)
			}
		default:
			others = append(others, *o)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	// Only with all selectors read it is known which groups they are for.
	groups := b.world.groups()
	for i := range others {
		if err := b.addNamespaced(&others[i], groups); err != nil {
			return fmt.Errorf("%s %s: %w", others[i].GetKind(), others[i].GetName(), err)
		}
	}
	b.world.index.MarkSynced(roleselector.Everything)
	slices.SortFunc(b.resources, func(x, y resource) int { return strings.Compare(x.String(), y.String()) })
	return nil
}

// addNamespaced takes choices and resources.
func (b *bundle) addNamespaced(o *unstructured.Unstructured, groups map[string]bool) error {
	gvk := o.GroupVersionKind()
	_, expects := o.GetAnnotations()[expectAnnotation]
	isResource := roleselector.IsServiceGroup(gvk.Group) || groups[gvk.Group] || expects
	switch {
	case gvk.GroupKind() == selectorKind.GroupKind(), gvk.GroupKind() == choiceKind.GroupKind() && gvk != choiceKind:
		return fmt.Errorf("its apiVersion is %s; only %s and %s are known", o.GetAPIVersion(), selectorKind.GroupVersion(), choiceKind.GroupVersion())
	case gvk != choiceKind && !isResource:
		b.ignored[gvk.GroupKind().String()]++
		return nil
	case gvk != choiceKind && gvk.Group == "":
		return fmt.Errorf("it has %s, and its kind no API group: no IAMRoleSelector is for it", expectAnnotation)
	case o.GetNamespace() == "" && b.namespace == "":
		return fmt.Errorf("it has no namespace: write metadata.namespace, or give -n")
	case o.GetNamespace() == "":
		o.SetNamespace(b.namespace)
	}
	if err := b.once(o); err != nil {
		return err
	}
	if gvk == choiceKind {
		return b.world.addChoice(o, true)
	}
	if b.unlabelled {
		b.world.assumeUnlabelled(o.GetNamespace())
	}
	b.resources = append(b.resources, resource{gvk: gvk, object: o})
	return nil
}

func (b *bundle) once(o *unstructured.Unstructured) error {
	if o.GetName() == "" {
		return fmt.Errorf("it has no name")
	}
	id := o.GroupVersionKind().GroupKind().String() + " " + o.GetNamespace() + "/" + o.GetName()
	if b.seen[id] {
		return fmt.Errorf("it is given twice")
	}
	b.seen[id] = true
	return nil
}

// labelsOf are a namespace's labels as the API server has them: it adds the name.
func labelsOf(namespace *unstructured.Unstructured) map[string]string {
	labels := map[string]string{}
	for key, value := range namespace.GetLabels() {
		labels[key] = value
	}
	labels[corev1.LabelMetadataName] = namespace.GetName()
	return labels
}

func (w *world) assumeUnlabelled(namespace string) {
	if _, known := w.namespaces[namespace]; !known {
		w.namespaces[namespace] = map[string]string{corev1.LabelMetadataName: namespace}
	}
}

// groups are the API groups that selectors name.
func (w *world) groups() map[string]bool {
	groups := map[string]bool{}
	for _, s := range w.selectors {
		if s.Spec == nil {
			continue
		}
		for _, t := range s.Spec.ResourceTypeSelector {
			groups[groupOf(t)] = true
		}
	}
	delete(groups, "")
	return groups
}

func groupOf(t services.ResourceType) string {
	if group, _, found := strings.Cut(t.APIVersion, "/"); found {
		return group
	}
	return t.Group
}
