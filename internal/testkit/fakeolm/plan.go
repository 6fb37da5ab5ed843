package fakeolm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// makePlan makes the InstallPlan of a namespace's choices, unless it is there: its name may not have come
// to the Subscription, which somebody else wrote meanwhile. One Manual Subscription makes it wait.
func (o *OLM) makePlan(ctx context.Context, ns *namespace, choices []choice) (*object, error) {
	if made := unreferred(ns, choices); made != nil {
		return made, nil
	}
	approval, phase, generation := "Automatic", "Installing", int64(0)
	plan := &object{Object: map[string]any{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan"}}
	var owners []metav1.OwnerReference
	for i := range ns.subscriptions {
		sub := &ns.subscriptions[i]
		if text(sub, "spec", "installPlanApproval") == "Manual" {
			approval, phase = "Manual", "RequiresApproval"
		}
		generation = max(generation, number(sub, "status", "installPlanGeneration"))
		no := false
		owners = append(owners, metav1.OwnerReference{
			APIVersion: sub.GetAPIVersion(), Kind: sub.GetKind(), Name: sub.GetName(), UID: sub.GetUID(), Controller: &no, BlockOwnerDeletion: &no,
		})
	}
	for i := range ns.plans {
		generation = max(generation, number(&ns.plans[i], "spec", "generation"))
	}
	plan.SetGenerateName("install-")
	plan.SetNamespace(ns.name)
	plan.SetOwnerReferences(owners)
	var names, steps, sources []any
	for _, each := range choices {
		names = append(names, each.csv)
		step, err := o.step(ns.name, each)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		if source := text(each.subscription, "spec", "source"); !slices.Contains(sources, any(source)) {
			sources = append(sources, source)
		}
	}
	plan.Object["spec"] = map[string]any{
		"approval": approval, "approved": approval == "Automatic", "clusterServiceVersionNames": names, "generation": generation + 1,
	}
	made, err := o.client.Resource(planKind).Namespace(ns.name).Create(ctx, plan, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		return nil, fmt.Errorf("make an InstallPlan in %s: %w", ns.name, err)
	}
	// Whoever watches plans may have written to this one already: a patch is of any version of it.
	status, err := json.Marshal(map[string]any{"status": map[string]any{"phase": phase, "plan": steps, "catalogSources": sources}})
	if err != nil {
		return nil, fmt.Errorf("write the status of an InstallPlan in %s: %w", ns.name, err)
	}
	made, err = o.client.Resource(planKind).Namespace(ns.name).Patch(ctx, made.GetName(), types.MergePatchType, status, metav1.PatchOptions{FieldManager: manager}, "status")
	if err != nil {
		return nil, fmt.Errorf("write the status of an InstallPlan in %s: %w", ns.name, err)
	}
	return made, nil
}

// unreferred is an InstallPlan of a namespace's choices to which no Subscription refers and which is not
// executed yet; nil where there is none.
func unreferred(ns *namespace, choices []choice) *object {
	for i := range ns.plans {
		plan := &ns.plans[i]
		phase := text(plan, "status", "phase")
		names, _, _ := unstructured.NestedStringSlice(plan.Object, "spec", "clusterServiceVersionNames")
		isOf := slices.EqualFunc(names, choices, func(name string, of choice) bool { return name == of.csv && owns(of.subscription, plan) })
		refers := func(sub object) bool { return text(&sub, "status", "installPlanRef", "name") == plan.GetName() }
		if isOf && (phase == "RequiresApproval" || phase == "Installing") && !slices.ContainsFunc(ns.subscriptions, refers) {
			return plan
		}
	}
	return nil
}

func owns(owner, of *object) bool {
	return slices.ContainsFunc(of.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}

// step is what an InstallPlan says of a version: its whole manifest.
func (o *OLM) step(namespace string, of choice) (map[string]any, error) {
	csv, err := o.manifest(namespace, of.csv)
	if err != nil {
		return nil, err
	}
	manifest, err := csv.MarshalJSON()
	return map[string]any{
		"resolving": of.csv, "status": "Unknown", "resource": map[string]any{
			"group": "operators.coreos.com", "version": "v1alpha1", "kind": "ClusterServiceVersion", "name": of.csv, "manifest": string(manifest),
			"sourceName": text(of.subscription, "spec", "source"), "sourceNamespace": text(of.subscription, "spec", "sourceNamespace"),
		},
	}, err
}

// manifest is the ClusterServiceVersion of a version.
func (o *OLM) manifest(namespace, name string) (*object, error) {
	csv, replaces, ok := o.version(name)
	if !ok {
		return nil, fmt.Errorf("no package of the fake has %s", name)
	}
	deployments := []any{}
	for _, each := range slices.Sorted(maps.Keys(csv.Deployments)) {
		deployments = append(deployments, map[string]any{"name": each, "spec": csv.Deployments[each]})
	}
	spec := map[string]any{
		"displayName": name,
		"install":     map[string]any{"strategy": "deployment", "spec": map[string]any{"deployments": deployments}},
		"installModes": []any{
			map[string]any{"type": "OwnNamespace", "supported": true}, map[string]any{"type": "SingleNamespace", "supported": true},
			map[string]any{"type": "MultiNamespace", "supported": true}, map[string]any{"type": "AllNamespaces", "supported": true},
		},
	}
	if replaces != "" {
		spec["replaces"] = replaces
	}
	maps.Copy(spec, csv.Spec)
	content, err := json.Marshal(map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
		"metadata": map[string]any{"name": name, "namespace": namespace, "annotations": csv.Annotations}, "spec": spec,
	})
	if err != nil {
		return nil, fmt.Errorf("write the manifest of %s: %w", name, err)
	}
	made := &object{}
	if err := made.UnmarshalJSON(content); err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", name, err)
	}
	return made, nil
}

// plan takes an InstallPlan one step on.
func (o *OLM) plan(ctx context.Context, ns *namespace, of *object) error {
	now := of.DeepCopy()
	switch text(of, "status", "phase") {
	case "RequiresApproval":
		if approved, _, _ := unstructured.NestedBool(of.Object, "spec", "approved"); !approved {
			return nil
		}
		set(now, "Installing", "phase")
	case "Installing":
		if text(now, "status", "startTime") == "" {
			set(now, instant(), "startTime")
		}
		if err := o.execute(ctx, ns, now); err != nil {
			return err
		}
	}
	_, err := o.setStatus(ctx, planKind, of, now)
	return err
}

// execute makes the ClusterServiceVersions of an InstallPlan.
func (o *OLM) execute(ctx context.Context, ns *namespace, plan *object) error {
	names, _, _ := unstructured.NestedStringSlice(plan.Object, "spec", "clusterServiceVersionNames")
	for _, name := range names {
		if fault, stays := o.fault(name, PlanStays); stays {
			if fault.Message != "" {
				set(plan, "retrying execution due to error: "+fault.Message, "message")
			}
			return nil
		}
		if err := o.makeCSV(ctx, ns.name, name); err != nil {
			return err
		}
		if fault, fails := o.fault(name, PlanFails); fails {
			condition(plan, "Installed", "False", "InstallComponentFailed", fault.Message)
			set(plan, fault.Message, "message")
			set(plan, "Failed", "phase")
			return nil
		}
	}
	steps, _, _ := unstructured.NestedSlice(plan.Object, "status", "plan")
	for _, each := range steps {
		if step, ok := each.(map[string]any); ok {
			step["status"] = "Created"
		}
	}
	set(plan, steps, "plan")
	condition(plan, "Installed", "True", "", "")
	unset(plan, "message")
	set(plan, "Complete", "phase")
	return nil
}

// makeCSV makes the ClusterServiceVersion of a version, unless it is there.
func (o *OLM) makeCSV(ctx context.Context, namespace, name string) error {
	csv, err := o.manifest(namespace, name)
	if err != nil {
		return err
	}
	_, err = o.client.Resource(csvKind).Namespace(namespace).Create(ctx, csv, metav1.CreateOptions{FieldManager: manager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the ClusterServiceVersion %s/%s: %w", namespace, name, err)
	}
	return nil
}
