package carm

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// Object is a resource as selectors see it.
type Object struct {
	Kind            schema.GroupVersionKind
	Namespace       string
	NamespaceLabels map[string]string
	Labels          map[string]string
}

// Verdict is what selectors give an object.
type Verdict struct {
	Outcome Outcome
	// Role is the ARN; empty unless Outcome is Role.
	Role string
	// Selectors are the names of those that match, sorted.
	Selectors []string
}

// Answer is the verdict in one word: the ARN, or the outcome.
func (v Verdict) Answer() string { return answer(v.Outcome, v.Role) }

// blocks says whether the verdict keeps a controller from calling AWS as anybody.
func (v Verdict) blocks() bool {
	return v.Outcome == Denied || v.Outcome == Role && IsBlocker(v.Role)
}

// Decide gives the verdict on an object.
type Decide func(Object) Verdict

// Semantics makes a decision of a set of selectors. Who reads the selectors
// decides what they mean: Shipped is ACK.
type Semantics func([]v1alpha1.IAMRoleSelector) Decide
