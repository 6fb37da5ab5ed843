// Package roleselector decides with which IAM role a controller manages a
// Kubernetes resource, from the IAMRoleSelectors of the cluster
// (services.k8s.aws/v1alpha1) and the IAMRoleChoices of the resource's
// namespace.
//
// It is plain data in and out, for controllers of any make: no client, no
// context, no logger, no clock. A controller feeds it from its informers and
// asks it on every reconcile:
//
//	index := roleselector.NewIndex(roleselector.Options{})
//	index.Set(roleselector.Compile(selector))      // on each event of a selector
//	index.MarkSynced(roleselector.Everything)      // when the informers have synced
//	decision := index.Decide(query)                // one resource, in about a microsecond
//
// A Decision says one of six things. Only two of them let a controller call AWS:
//
//	Use          assume the role of Decision.Selector
//	NoSelector   no selector applies; use the controller's own role
//	Conflict     several selectors apply; wait for a person
//	Denied       an administrator, or a choice that is not offered, stands against it
//	Invalid      a selector that cannot be evaluated is meant for the resource
//	NotYetKnown  selectors, choices or the namespace have not been seen yet
//
// What is not known is refused: a selector with a broken part is no selector
// less, it blocks the resources that its other parts select; and before the
// informers have synced nothing is decided.
//
// Objects keeps the resources of a controller and tells which of them a change
// of a selector, of a choice or of a namespace's labels may concern, so that
// those, and no others, are reconciled again. Proceed holds the rules for what
// exists already: an object never changes its AWS account by accident.
// Selector.AssumeRole makes the input of STS's AssumeRole.
//
// Compiled selectors, choices and decisions are immutable. Index and Objects are
// safe for concurrent use.
package roleselector
