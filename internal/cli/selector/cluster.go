package selector

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/internal/cli/manifest"
	"github.com/tabard-dev/tabard/roleselector"
)

// rights is the ClusterRole that explaining needs.
const rights = `  apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: tabard-explain}
  rules:
  - {apiGroups: [services.k8s.aws], resources: [iamroleselectors], verbs: [list]}
  - {apiGroups: [""], resources: [namespaces], verbs: [get]}
  # These may be a Role in the resource's namespace.
  - {apiGroups: [identity.tabard.dev], resources: [iamrolechoices], verbs: [list]}
  - {apiGroups: [s3.services.k8s.aws], resources: [buckets], verbs: [get]}
`

// What is read beside the resource.
var (
	selectorResource  = selectorKind.GroupVersion().WithResource("iamroleselectors")
	choiceResource    = choiceKind.GroupVersion().WithResource("iamrolechoices")
	namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// get reads the resource itself, without which there is nothing to explain.
func (c Cluster) get(ctx context.Context, k kind, namespace, name string) (resource, error) {
	client := c.Objects.Resource(k.resource())
	var object *unstructured.Unstructured
	var err error
	if k.namespaced {
		object, err = client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	} else {
		object, err = client.Get(ctx, name, metav1.GetOptions{})
	}
	switch {
	case apierrors.IsNotFound(err):
		return resource{}, fmt.Errorf("there is no %s %s", k.GroupKind(), strings.TrimPrefix(namespace+"/"+name, "/"))
	case err != nil:
		return resource{}, fmt.Errorf("read the resource: %w", err)
	}
	return resource{gvk: k.GroupVersionKind, object: object}, nil
}

// read reads what the decision depends on. What cannot be read is told in
// unread, and what depends on it is not known.
func (c Cluster) read(ctx context.Context, w *world, namespace string) {
	w.index.MarkSynced(roleselector.Namespaces) // each by itself is known or not
	selectors, err := manifest.List(ctx, c.Objects.Resource(selectorResource))
	w.take(roleselector.Selectors, selectorResource, selectors, err, w.addSelector)
	if namespace == "" {
		w.index.MarkSynced(roleselector.Choices) // none is for a resource of the cluster
		return
	}
	choices, err := manifest.List(ctx, c.Objects.Resource(choiceResource).Namespace(namespace))
	w.take(roleselector.Choices, choiceResource, choices, err, w.addChoice)
	home, err := c.Objects.Resource(namespaceResource).Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		w.leaveOut("the namespace's labels", err)
		return
	}
	w.namespaces[namespace] = home.GetLabels()
}

// take enters what was listed, all of it or nothing.
func (w *world) take(
	source roleselector.Source, of schema.GroupVersionResource, objects []unstructured.Unstructured, err error,
	add func(*unstructured.Unstructured, bool) error,
) {
	for i := range objects {
		if err == nil {
			err = add(&objects[i], false)
		}
	}
	if err != nil {
		w.leaveOut(of.GroupResource().String(), err)
		return
	}
	w.index.MarkSynced(source)
}

func (w *world) leaveOut(what string, err error) {
	w.unread = append(w.unread, fmt.Sprintf("%s could not be read: %v", what, err))
}
