package olm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

// WithoutRole is the annotation of a Subscription that somebody chose to install without a role.
const WithoutRole = "operators.tabard.dev/without-role"

// ErrChanged is an object that somebody changed since it was read.
var ErrChanged = operator.ErrChanged

// Manifests are the objects that an install makes, in the order of its changes; those that exist are
// not among them.
func Manifests(i operator.Install, o *operator.Objects, changes []operator.Change) (out []*unstructured.Unstructured) {
	for _, change := range changes {
		if change.Exist {
			continue
		}
		switch change.Kind {
		case operator.KindNamespace:
			out = append(out, object("v1", change.Kind, "", i.Namespace, nil))
		case operator.KindGroup:
			spec := map[string]any{}
			if targets := i.Targets(o); len(targets) > 0 {
				spec["targetNamespaces"] = texts(targets)
			}
			out = append(out, object(apiV1, change.Kind, i.Namespace, i.Namespace, spec))
		default:
			out = append(out, subscription(i))
		}
	}
	return out
}

func object(version string, kind operator.Kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": string(kind)}}
	out.SetName(name)
	if namespace != "" {
		out.SetNamespace(namespace)
	}
	if spec != nil {
		out.Object["spec"] = spec
	}
	return out
}

func texts(all []string) (out []any) {
	for _, text := range all {
		out = append(out, text)
	}
	return out
}

func subscription(i operator.Install) *unstructured.Unstructured {
	spec := map[string]any{"name": i.Package, "source": i.Source, "sourceNamespace": i.SourceNamespace, "installPlanApproval": i.Approval}
	for field, value := range map[string]string{"channel": i.Channel, "startingCSV": i.CSV} {
		if value != "" {
			spec[field] = value
		}
	}
	if env := variables(i.Environment()); len(env) > 0 {
		spec["config"] = map[string]any{"env": env}
	}
	out := object(apiV1alpha1, operator.KindSubscription, i.Namespace, i.Wanted.Subscription, spec)
	if i.WithoutRole {
		out.SetAnnotations(map[string]string{WithoutRole: "true"})
	}
	return out
}

func variables(values map[string]string) (out []any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, map[string]any{"name": name, "value": values[name]})
	}
	return out
}

// resource is that of an object of Manifests.
func resource(of *unstructured.Unstructured) schema.GroupVersionResource {
	switch operator.Kind(of.GetKind()) {
	case operator.KindNamespace:
		return namespaces
	case operator.KindGroup:
		return groups
	}
	return subscriptions
}

// Create makes objects of Manifests, up to the first that fails, and returns those that it made. With
// try the API server only checks them; what is in a namespace that does not exist yet it cannot check,
// and that is no error.
func (c Client) Create(ctx context.Context, all []*unstructured.Unstructured, try bool) (made []*unstructured.Unstructured, err error) {
	options := metav1.CreateOptions{FieldManager: Manager}
	if try {
		options.DryRun = []string{metav1.DryRunAll}
	}
	for _, one := range all {
		_, err := c.Objects.Resource(resource(one)).Namespace(one.GetNamespace()).Create(ctx, one, options)
		switch {
		case try && apierrors.IsNotFound(err) && all[0].GetKind() == string(operator.KindNamespace):
		case apierrors.IsAlreadyExists(err):
			return made, fmt.Errorf("make the %s %s: %w", one.GetKind(), one.GetName(), ErrChanged)
		case err != nil:
			return made, fmt.Errorf("make the %s %s: %w", one.GetKind(), one.GetName(), err)
		}
		made = append(made, one)
	}
	return made, nil
}

// Approve approves an InstallPlan as it was read, and notes on it how its permissions were judged;
// nothing where checked is empty. One that was changed since is left as it is: ErrChanged.
func (c Client) Approve(ctx context.Context, namespace string, plan operator.Plan, checked string) error {
	metadata := map[string]any{"resourceVersion": plan.ResourceVersion}
	if checked != "" {
		metadata["annotations"] = map[string]any{operator.CheckedAnnotation: checked}
	}
	return c.patch(ctx, plans, namespace, plan.Name, map[string]any{"metadata": metadata, "spec": map[string]any{"approved": true}})
}

// Note notes on an InstallPlan as it was read how its permissions were judged, and does not approve
// it. One that was changed since is left as it is: ErrChanged.
func (c Client) Note(ctx context.Context, namespace string, plan operator.Plan, checked string) error {
	return c.patch(ctx, plans, namespace, plan.Name, map[string]any{"metadata": map[string]any{
		"resourceVersion": plan.ResourceVersion, "annotations": map[string]any{operator.CheckedAnnotation: checked},
	}})
}

// patch merges what is given into an object of the resource version that is part of it.
func (c Client) patch(ctx context.Context, of schema.GroupVersionResource, namespace, name string, change map[string]any) error {
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = c.Objects.Resource(of).Namespace(namespace).Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{FieldManager: Manager})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return fmt.Errorf("%s %s/%s: %w", of.Resource, namespace, name, ErrChanged)
	}
	return err
}

// SetValues gives a Subscription other values of a role. Other variables, and their order, stay; a
// variable of a role that is not among the values is removed. A Subscription whose spec was changed
// since it was read, or of which another version is installed since, is left as it is: ErrChanged. Its
// status alone OLM may change at any time.
func (c Client) SetValues(ctx context.Context, s operator.Subscription, values map[string]string) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return c.setValues(ctx, s, values) })
	if apierrors.IsConflict(err) {
		err = ErrChanged
	}
	if err != nil {
		return fmt.Errorf("the Subscription %s/%s: %w", s.Namespace, s.Name, err)
	}
	return nil
}

func (c Client) setValues(ctx context.Context, s operator.Subscription, values map[string]string) error {
	at := c.Objects.Resource(subscriptions).Namespace(s.Namespace)
	found, err := at.Get(ctx, s.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now, err := toSubscription(found)
	if err != nil {
		return err
	}
	if now.UID != s.UID || now.Generation != s.Generation || now.InstalledCSV != s.InstalledCSV {
		return ErrChanged
	}
	env, _, err := unstructured.NestedSlice(found.Object, "spec", "config", "env")
	if err != nil {
		return fmt.Errorf("spec.config.env: %w", err)
	}
	if err := unstructured.SetNestedSlice(found.Object, merged(env, values), "spec", "config", "env"); err != nil {
		return fmt.Errorf("spec.config: %w", err)
	}
	_, err = at.Update(ctx, found, metav1.UpdateOptions{FieldManager: Manager})
	return err
}

// merged are variables with other values of a role.
func merged(env []any, values map[string]string) []any {
	left := maps.Clone(values)
	out := []any{}
	for _, one := range env {
		name := ""
		if fields, ok := one.(map[string]any); ok {
			name, _ = fields["name"].(string)
		}
		value, given := left[name]
		switch {
		case given:
			out = append(out, map[string]any{"name": name, "value": value})
			delete(left, name)
		case values[name] != "" || operator.IsRoleVariable(name):
			// It is a second one of the name, or of another role.
		default:
			out = append(out, one)
		}
	}
	return append(out, variables(left)...)
}
