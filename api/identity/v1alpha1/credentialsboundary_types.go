package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CredentialsBoundary bounds what the CredentialsRequests of some namespaces can get. A
// namespace without one gets nothing. The one named default is for the requests of
// Tabard's own namespace only.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=credentialsboundaries,singular=credentialsboundary,categories=tabard
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name != 'default' || !((has(self.spec.namespaces) && self.spec.namespaces.size() > 0) || has(self.spec.namespaceSelector))",message="the boundary named default is for Tabard's own namespace: it has neither namespaces nor namespaceSelector, make another boundary for other namespaces"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default' || (has(self.spec.namespaces) && self.spec.namespaces.size() > 0) || has(self.spec.namespaceSelector)",message="namespaces or namespaceSelector is required: the namespaces whose requests the boundary is for"
type CredentialsBoundary struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CredentialsBoundarySpec   `json:"spec"`
	Status CredentialsBoundaryStatus `json:"status,omitempty"`
}

// CredentialsBoundaryList is a list of CredentialsBoundary.
//
// +kubebuilder:object:root=true
type CredentialsBoundaryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CredentialsBoundary `json:"items"`
}

// DefaultBoundary is the name of the boundary of Tabard's own namespace.
const DefaultBoundary = "default"

// CredentialsBoundarySpec is the bound.
type CredentialsBoundarySpec struct {
	// Namespaces are the namespaces whose requests it is for, by name. A name goes
	// before a selector of another boundary.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a namespace: lower-case letters, digits and -, no wildcard"
	Namespaces []string `json:"namespaces,omitempty"`
	// NamespaceSelector selects further namespaces by their labels. It has a term: an
	// empty one would be for every namespace.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)",message="the selector has no term and would be for every namespace: give it matchLabels or matchExpressions"
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// TargetNamespaces are the namespaces that the requests may name Secrets and
	// ServiceAccounts of. Empty is the request's own namespace. Requests of Tabard's own
	// namespace may name any.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a namespace: lower-case letters, digits and -, no wildcard"
	TargetNamespaces []string `json:"targetNamespaces,omitempty"`
	// MaxRequests is how many requests of each of its namespaces get anything: those that
	// have something, and then the oldest. Zero is 50. What a request has stays, also if the
	// number is lowered.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	MaxRequests int32 `json:"maxRequests,omitempty"`
	// AWS bounds roles in AWS.
	//
	// +optional
	AWS *AWSBoundary `json:"aws,omitempty"`
}

// DefaultMaxRequests is how many requests of a namespace a boundary allows that does not say.
const DefaultMaxRequests = 50

// AWSBoundary bounds roles in AWS.
type AWSBoundary struct {
	// PermissionsBoundary is the ARN of the managed policy that each role gets as its
	// permissions boundary. Empty is the one that "tabard credentials bootstrap" made.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9+=,.@_/-]+$')",message="permissionsBoundary must be the ARN of a managed policy: arn:aws:iam::ACCOUNT:policy/NAME"
	PermissionsBoundary string `json:"permissionsBoundary,omitempty"`
	// PathPrefix is the path of the roles, which begins and ends with a slash. Empty is
	// the path that the controller was told.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^/([A-Za-z0-9+=,.@_-]+/)*$')",message="pathPrefix must begin and end with a slash and hold letters, digits and +=,.@_- only: /team/"
	PathPrefix string `json:"pathPrefix,omitempty"`
	// MaxSessionSeconds is the longest session of the roles: 3600 to 43200. Zero is 3600.
	//
	// +optional
	// +kubebuilder:validation:Minimum=3600
	// +kubebuilder:validation:Maximum=43200
	MaxSessionSeconds int32 `json:"maxSessionSeconds,omitempty"`
	// RoleARNPatterns are the roles that a request may name in stsIAMRoleARN: ARNs in
	// which * stands for any characters of a role's path and name, not of its account.
	// Empty is none.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=640
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/*-]+$')",message="must be the ARN of roles of one account, with * in the path and the name only: arn:aws:iam::111122223333:role/team/*"
	RoleARNPatterns []string `json:"roleARNPatterns,omitempty"`
	// Ceiling is a permission policy in JSON. A request whose statements can allow what
	// it does not is refused. Without one no statement is allowed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=20480
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^\\\\s*\\\\{')",message="ceiling must be a permission policy in JSON: an object with Version and Statement"
	Ceiling string `json:"ceiling,omitempty"`
}

// CredentialsBoundaryStatus is what was seen of it.
type CredentialsBoundaryStatus struct {
	// ObservedGeneration is the generation that the conditions are about.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions: Ready.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions returns the stored conditions.
func (b *CredentialsBoundary) GetConditions() []metav1.Condition { return b.Status.Conditions }
