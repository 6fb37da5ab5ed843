package roleselector

import (
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Subject is for whom a role is assumed: the values of the variables that
// templates may hold, beside the selector's own. What is empty has no value, and
// a template that needs it is an error.
type Subject struct {
	// ClusterID tells this cluster from others.
	ClusterID string
	// ControllerNamespace is where the controller runs.
	ControllerNamespace string
	// Service is the controller's service, such as s3.
	Service string
	// Kind is the resource's kind.
	Kind string
	// Namespace, NamespaceUID and NamespaceLabels are the resource's namespace's.
	Namespace, NamespaceUID string
	NamespaceLabels         map[string]string
	// Name, UID and Labels are the resource's.
	Name, UID string
	Labels    map[string]string
}

// Input is one call of AssumeRole.
type Input struct {
	Role identity.Role
	// Scope is what shares the session: all that a selector selects, one
	// namespace, or one resource.
	Scope v1alpha1.CacheScope
}
