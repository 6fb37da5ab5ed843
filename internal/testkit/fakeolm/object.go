package fakeolm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is one of OLM's.
type object = unstructured.Unstructured

// OLM's kinds.
var (
	catalogueKind    = kind("v1alpha1", "catalogsources")
	groupKind        = kind("v1", "operatorgroups")
	subscriptionKind = kind("v1alpha1", "subscriptions")
	planKind         = kind("v1alpha1", "installplans")
	csvKind          = kind("v1alpha1", "clusterserviceversions")
)

func kind(version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "operators.coreos.com", Version: version, Resource: resource}
}

// seen is all that the fake looks at.
type seen struct {
	catalogues []object
	namespaces []*namespace
}

// namespace is what is in one.
type namespace struct {
	name                               string
	groups, subscriptions, plans, csvs []object
	deployments                        []appsv1.Deployment
}

// read reads all that the fake looks at: the namespaces by name, what is in them by name.
func (o *OLM) read(ctx context.Context) (*seen, error) {
	out, all := &seen{}, map[string]*namespace{}
	of := func(name string) *namespace {
		if all[name] == nil {
			all[name] = &namespace{name: name}
		}
		return all[name]
	}
	for _, each := range []struct {
		kind schema.GroupVersionResource
		take func(object)
	}{
		{catalogueKind, func(got object) { out.catalogues = append(out.catalogues, got) }},
		{groupKind, func(got object) { n := of(got.GetNamespace()); n.groups = append(n.groups, got) }},
		{subscriptionKind, func(got object) { n := of(got.GetNamespace()); n.subscriptions = append(n.subscriptions, got) }},
		{planKind, func(got object) { n := of(got.GetNamespace()); n.plans = append(n.plans, got) }},
		{csvKind, func(got object) { n := of(got.GetNamespace()); n.csvs = append(n.csvs, got) }},
	} {
		list, err := o.client.Resource(each.kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", each.kind.Resource, err)
		}
		for _, got := range list.Items {
			if len(o.only) == 0 || slices.Contains(o.only, got.GetNamespace()) {
				each.take(got)
			}
		}
	}
	deployments, err := o.kube.AppsV1().Deployments("").List(ctx, metav1.ListOptions{LabelSelector: ownerKindLabel + "=ClusterServiceVersion"})
	if err != nil {
		return nil, fmt.Errorf("list deployments: %w", err)
	}
	for _, got := range deployments.Items {
		if n := all[got.Namespace]; n != nil {
			n.deployments = append(n.deployments, got)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out.namespaces = append(out.namespaces, all[name])
	}
	return out, nil
}

// setStatus writes an object's status, if it is another than it was.
func (o *OLM) setStatus(ctx context.Context, kind schema.GroupVersionResource, was, now *object) (changed bool, err error) {
	if equality.Semantic.DeepEqual(was.Object["status"], now.Object["status"]) {
		return false, nil
	}
	if kind != planKind && kind != csvKind && kind != catalogueKind { // those have no such field
		set(now, instant(), "lastUpdated")
	}
	written, err := o.client.Resource(kind).Namespace(now.GetNamespace()).UpdateStatus(ctx, now, metav1.UpdateOptions{FieldManager: manager})
	if err != nil {
		return false, fmt.Errorf("write the status of %s %s/%s: %w", kind.Resource, now.GetNamespace(), now.GetName(), err)
	}
	*now = *written
	return true, nil
}

// instant is now, as objects have it.
func instant() string { return time.Now().UTC().Format(time.RFC3339) }

// text is a field; empty where there is none.
func text(of *object, path ...string) string {
	got, _, _ := unstructured.NestedString(of.Object, path...)
	return got
}

// number is a field; 0 where there is none.
func number(of *object, path ...string) int64 {
	got, _, _ := unstructured.NestedInt64(of.Object, path...)
	return got
}

// set sets a field of the status.
func set(of *object, value any, path ...string) {
	if err := unstructured.SetNestedField(of.Object, value, append([]string{"status"}, path...)...); err != nil {
		panic(err) // a status that is no object cannot come of an API server
	}
}

// unset removes a field of the status.
func unset(of *object, path ...string) {
	unstructured.RemoveNestedField(of.Object, append([]string{"status"}, path...)...)
}

// conditions are those of the status.
func conditions(of *object) []any {
	got, _, _ := unstructured.NestedSlice(of.Object, "status", "conditions")
	return got
}

// condition sets a condition of the status. Its time stays where nothing else has changed.
func condition(of *object, kind, status, reason, message string) {
	wanted := map[string]any{"type": kind, "status": status, "lastTransitionTime": instant()}
	for field, value := range map[string]string{"reason": reason, "message": message} {
		if value != "" {
			wanted[field] = value
		}
	}
	all := conditions(of)
	for i, each := range all {
		had, _ := each.(map[string]any)
		if had["type"] != kind {
			continue
		}
		if had["status"] == status && had["reason"] == wanted["reason"] && had["message"] == wanted["message"] {
			return
		}
		all[i] = wanted
		set(of, all, "conditions")
		return
	}
	set(of, append(all, wanted), "conditions")
}

// without removes conditions of the status.
func without(of *object, kinds ...string) {
	all := slices.DeleteFunc(conditions(of), func(each any) bool {
		had, _ := each.(map[string]any)
		kind, _ := had["type"].(string)
		return slices.Contains(kinds, kind)
	})
	if len(all) == 0 {
		unset(of, "conditions")
		return
	}
	set(of, all, "conditions")
}

// named is the object of a name; nil where there is none.
func named(all []object, name string) *object {
	for i := range all {
		if all[i].GetName() == name {
			return &all[i]
		}
	}
	return nil
}
