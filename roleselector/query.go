package roleselector

// Query is what is asked about: one resource as its controller sees it.
type Query struct {
	// Namespace is the resource's namespace; empty for one of the cluster.
	Namespace string
	// NamespaceLabels are that namespace's labels.
	NamespaceLabels map[string]string
	// NamespaceKnown says that NamespaceLabels are what the namespace has. While
	// it is false nothing is decided that depends on them. A resource of the
	// cluster has no namespace to wait for: set it.
	NamespaceKnown bool
	// Group, Version and Kind are what the controller declares to manage, all of
	// them set.
	Group, Version, Kind string
	// Labels are the resource's own.
	Labels map[string]string
	// Choice is the value of the resource's annotation
	// services.k8s.aws/iam-role-selector; empty for none.
	Choice string
}

// Verdict says whether something selects a resource.
type Verdict uint8

// The verdicts.
const (
	// No: it does not.
	No Verdict = iota
	// Unknown: that depends on labels of a namespace that has not been seen.
	Unknown
	// Yes: it does.
	Yes
)

// String is the verdict in lower case.
func (v Verdict) String() string { return [...]string{"no", "unknown", "yes"}[v] }
