package main

import "maps"

// clusterAttacks let a cluster into a hub, choose which works are sent to it or whose agents
// get its access, or remove it. Every change of a ManagedCluster counts that a policy does
// not refuse.
func clusterAttacks(grants []grant, namespace string) []attack {
	if namespace != "" {
		return nil // it has none
	}
	base := on("create", "cluster.open-cluster-management.io", "v1", "managedclusters", "ManagedCluster", namespace, "attack", map[string]any{
		"metadata": map[string]any{
			"annotations": map[string]any{"note": "x"}, "labels": map[string]any{"place": "x"},
			"finalizers": []any{"example.com/first", "example.com/second"},
		},
		"spec": map[string]any{"hubAcceptsClient": false}, "status": map[string]any{},
	})
	return objectAttacks(grants, base, clusters, "a cluster", clusterChanges())
}

// clusterChanges are changes of a ManagedCluster other than the finalizer of the controller
// hubaccess, each alone and together with it.
func clusterChanges() map[string]func(map[string]any) {
	changes := map[string]func(map[string]any){
		"a cluster that it accepts":       func(o map[string]any) { o["spec"] = map[string]any{"hubAcceptsClient": true} },
		"a field of its own":              func(o map[string]any) { o["attack"] = "x" },
		"a spec less":                     func(o map[string]any) { delete(o, "spec") },
		"another value of a label":        func(o map[string]any) { metaOf(o)["labels"] = map[string]any{"place": "y"} },
		"a label less":                    func(o map[string]any) { metaOf(o)["labels"] = map[string]any{} },
		"no labels":                       func(o map[string]any) { delete(metaOf(o), "labels") },
		"a finalizer of somebody's less":  func(o map[string]any) { metaOf(o)["finalizers"] = []any{"example.com/first"} },
		"no finalizers":                   func(o map[string]any) { delete(metaOf(o), "finalizers") },
		"the finalizers in another order": func(o map[string]any) { metaOf(o)["finalizers"] = []any{"example.com/second", "example.com/first"} },
	}
	maps.Copy(changes, marks)
	for how, change := range maps.Clone(changes) {
		changes[how+", and its own finalizer"] = func(o map[string]any) {
			change(o)
			list, _ := metaOf(o)["finalizers"].([]any)
			metaOf(o)["finalizers"] = append(append([]any{}, list...), "identity.tabard.dev/hub-access")
		}
	}
	return changes
}
