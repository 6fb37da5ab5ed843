package main

import "maps"

// planAttacks have the Operator Lifecycle Manager install what somebody else has not approved, with
// all rights. Every change of an InstallPlan counts that a policy does not refuse, beside the
// annotation of the controller operators.
func planAttacks(grants []grant, namespace string) []attack {
	base := on("create", "operators.coreos.com", "v1alpha1", "installplans", "InstallPlan", namespace, "attack", map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"note": "x"}, "labels": map[string]any{"place": "x"}},
		"spec":     map[string]any{"approved": false, "clusterServiceVersionNames": []any{"a.v1"}},
		"status":   map[string]any{"phase": "RequiresApproval"},
	})
	return objectAttacks(grants, base, everybody, "an InstallPlan", planChanges())
}

// checkAnnotation is the annotation that the controller operators writes.
const checkAnnotation = "operators.tabard.dev/permission-check"

// planChanges are changes of an InstallPlan other than that annotation, each alone and together
// with it, and what the controller writes for nobody: that the check was overridden.
func planChanges() map[string]func(map[string]any) {
	check := func(o map[string]any, text string) {
		annotations, _ := metaOf(o)["annotations"].(map[string]any)
		annotations = maps.Clone(annotations)
		if annotations == nil {
			annotations = map[string]any{}
		}
		annotations[checkAnnotation] = text
		metaOf(o)["annotations"] = annotations
	}
	changes := map[string]func(map[string]any){
		"a plan that it approves": func(o map[string]any) {
			o["spec"] = map[string]any{"approved": true, "clusterServiceVersionNames": []any{"a.v1"}}
		},
		"other versions of a plan": func(o map[string]any) {
			o["spec"] = map[string]any{"approved": false, "clusterServiceVersionNames": []any{"b.v1"}}
		},
		"a plan without a spec":              func(o map[string]any) { delete(o, "spec") },
		"another phase of a plan":            func(o map[string]any) { o["status"] = map[string]any{"phase": "Installing"} },
		"a field of its own in a plan":       func(o map[string]any) { o["attack"] = "x" },
		"a label of a plan":                  func(o map[string]any) { metaOf(o)["labels"] = map[string]any{"place": "y"} },
		"no labels of a plan":                func(o map[string]any) { delete(metaOf(o), "labels") },
		"an annotation of somebody in plans": func(o map[string]any) { metaOf(o)["annotations"] = map[string]any{"note": "y"} },
		"no annotations of a plan":           func(o map[string]any) { delete(metaOf(o), "annotations") },
	}
	maps.Copy(changes, marks)
	for how, change := range maps.Clone(changes) {
		changes[how+", and its own annotation"] = func(o map[string]any) {
			change(o)
			check(o, "Unknown - 2026-01-31T12:00:00Z")
		}
	}
	changes["a check that it overrides"] = func(o map[string]any) { check(o, "Overridden - 2026-01-31T12:00:00Z") }
	return changes
}
