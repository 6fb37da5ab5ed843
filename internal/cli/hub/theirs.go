package hub

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/hub"
)

// fieldOwner is whose the fields are that init and join write.
const fieldOwner = "tabard.hub"

// operatorNamespace is where Open Cluster Management's operators run.
const operatorNamespace = "open-cluster-management"

// theirs is an object of Open Cluster Management's that init or join writes, and the operator that
// carries it out.
type theirs struct {
	kind schema.GroupVersionKind
	name string
	// operator is the name of the operator's Deployment and of its chart.
	operator string
	// install is what installs the operator.
	install string
}

var (
	theManager = theirs{
		clusterManagers, clusterManager, "cluster-manager",
		"clusteradm init --wait, or Open Cluster Management's chart cluster-manager in the namespace " + operatorNamespace,
	}
	theKlusterlet = theirs{
		klusterlets, "klusterlet", "klusterlet",
		"Open Cluster Management's chart klusterlet in the namespace " + operatorNamespace + ", with --set klusterlet.create=false",
	}
)

// images are the flags that say which images the operators run.
type images struct{ registry, tag string }

func (i *images) add(f *pflag.FlagSet) {
	f.StringVar(&i.registry, "image-registry", "", "the `registry` of Open Cluster Management's images (default: that of its operator's image)")
	f.StringVar(&i.tag, "bundle-version", "", "the `tag` of Open Cluster Management's images, such as v1.2.1 (default: that of its operator's image)")
}

// empty is an object with its kind and name alone.
func (o theirs) empty() *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(o.kind)
	out.SetName(o.name)
	return out
}

// look reads the object, nil for none, and the images that go with the operator's. It is an error
// if the operator is not installed.
func (o theirs) look(ctx context.Context, cluster client.Reader, said images) (map[string]any, core.Images, error) {
	existing := o.empty()
	err := cluster.Get(ctx, client.ObjectKey{Name: o.name}, existing)
	switch {
	case meta.IsNoMatchError(err):
		return nil, core.Images{}, fmt.Errorf("the cluster does not know the kind %s: Open Cluster Management's operator is not installed. Install it: %s; or choose another cluster with --context", o.kind.Kind, o.install)
	case apierrors.IsNotFound(err):
		existing.Object = nil
	case err != nil:
		return nil, core.Images{}, fmt.Errorf("read the %s %s: %w", o.kind.Kind, o.name, err)
	}
	var operator appsv1.Deployment
	err = cluster.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: o.operator}, &operator)
	switch {
	case apierrors.IsNotFound(err):
		return nil, core.Images{}, fmt.Errorf("there is no Deployment %s/%s, which is Open Cluster Management's operator: nothing would carry the %s out. Install it: %s", operatorNamespace, o.operator, o.kind.Kind, o.install)
	case err != nil:
		return nil, core.Images{}, fmt.Errorf("read the Deployment %s/%s: %w", operatorNamespace, o.operator, err)
	}
	return existing.Object, said.with(operator), nil
}

// with are the images that a person says, or else those beside the operator's.
func (i images) with(operator appsv1.Deployment) core.Images {
	var out core.Images
	for _, container := range operator.Spec.Template.Spec.Containers {
		if found, known := core.ImagesOf(container.Image); known {
			out = found
		}
	}
	if i.registry != "" {
		out.Registry = i.registry
	}
	if i.tag != "" {
		out.Tag = i.tag
	}
	return out
}

// apply writes the fields that an object has, and returns the object as it is then. With dry, the
// API server checks it, with all admission, and stores nothing.
func apply(ctx context.Context, cluster client.Client, wanted map[string]any, dry bool) (map[string]any, error) {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(wanted)}
	options := []client.ApplyOption{client.FieldOwner(fieldOwner), client.ForceOwnership}
	if dry {
		options = append(options, client.DryRunAll)
	}
	if err := cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
		return nil, fmt.Errorf("write the %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return object.Object, nil
}

// applyOver applies an object that was decided on by the existing one, nil for none.
func applyOver(ctx context.Context, cluster client.Client, existing, wanted map[string]any, dry bool) (after map[string]any, err error) {
	if existing == nil {
		return apply(ctx, cluster, wanted, dry)
	}
	err = whileUnmoved(ctx, cluster, &unstructured.Unstructured{Object: existing}, func(current *unstructured.Unstructured) error {
		over := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(wanted)}
		over.SetResourceVersion(current.GetResourceVersion())
		over.SetUID(current.GetUID()) // one that is deleted since is not made anew
		after, err = apply(ctx, cluster, over.Object, dry)
		return err
	})
	return after, err
}

// undeclared is what an API server says of a field that is in no schema, when it is applied.
const undeclared = "field not declared in schema"

// lacksField is the error of a definition that does not have one of the requirement's fields; nil
// if err is of something else.
func lacksField(err error, field string) error {
	if err == nil || !strings.Contains(err.Error(), "."+field+": "+undeclared) {
		return nil
	}
	return dropped(field)
}

func dropped(field string) error {
	return fmt.Errorf("the cluster's definition has no field %s, so it would be lost: add it first, with the same --context: %s", field, core.FieldsCommand)
}

// changeOf says what an object becomes, by what it was, nil for none, and what it would be.
func changeOf(before, after map[string]any) core.Change {
	was, _, _ := unstructured.NestedInt64(before, "metadata", "generation")
	is, _, _ := unstructured.NestedInt64(after, "metadata", "generation")
	switch {
	case before == nil:
		return core.ToCreate
	case was == is:
		return core.ToKeep
	}
	return core.ToReplace
}

// shown is an object as a person would apply it.
func shown(wanted map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(wanted)
	unstructured.RemoveNestedField(out, "metadata", "resourceVersion")
	return out
}
