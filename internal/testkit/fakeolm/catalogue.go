package fakeolm

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// catalogue says that a CatalogSource can be reached, or cannot.
func (o *OLM) catalogue(ctx context.Context, of *object) error {
	now, state := of.DeepCopy(), "READY"
	if _, stopped := o.fault(of.GetNamespace()+"/"+of.GetName(), CatalogueStops); stopped {
		state = "TRANSIENT_FAILURE"
	}
	if text(now, "status", "connectionState", "lastObservedState") != state {
		set(now, map[string]any{"address": manager + ":50051", "lastObservedState": state, "lastConnect": instant()}, "connectionState")
	}
	_, err := o.setStatus(ctx, catalogueKind, of, now)
	return err
}

// group says which namespaces an OperatorGroup selects. Selectors are not played.
func (o *OLM) group(ctx context.Context, of *object) error {
	now := of.DeepCopy()
	targets, _, _ := unstructured.NestedStringSlice(of.Object, "spec", "targetNamespaces")
	if len(targets) == 0 {
		targets = []string{""}
	}
	var all []any
	for _, each := range targets {
		all = append(all, each)
	}
	set(now, all, "namespaces")
	_, err := o.setStatus(ctx, groupKind, of, now)
	return err
}

// stopped is the fault of a CatalogSource that has stopped, and its name.
func (o *OLM) stopped(all []object) (at string, fault Fault, ok bool) {
	for i := range all {
		at = all[i].GetNamespace() + "/" + all[i].GetName()
		if fault, ok = o.fault(at, CatalogueStops); ok {
			return at, fault, true
		}
	}
	return "", Fault{}, false
}
