// Package kube feeds package roleselector from a cluster, for controllers that
// are built with controller-runtime.
//
// It follows the IAMRoleSelectors, the IAMRoleChoices and the namespaces, keeps a
// roleselector.Index and a roleselector.Objects by them, and wakes the resources
// whose decision a change has made another:
//
//	selectors, err := kube.New(mgr, kube.Options{Kinds: []schema.GroupVersionKind{bucketKind}})
//	...
//	ctrl.NewControllerManagedBy(mgr).
//		For(&Bucket{}, builder.WithPredicates(selectors.Predicate())).
//		WatchesRawSource(selectors.Source(bucketKind))
//
// A reconciler calls Decide first and roleselector.Proceed with what it says, and
// writes Conditions of both into the status. It calls Forget once the resource is
// gone.
//
// Nothing is decided before all has been read. What the API server does not
// serve, or does not let be read, makes Ready fail and every decision
// NotYetKnown; the manager, and the controllers that use no selectors, go on.
// Where the API server cannot be reached, or is silent, what was known holds for a
// second and a half at most.
package kube
