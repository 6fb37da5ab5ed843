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
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
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
	Namespaces []string `json:"namespaces,omitempty"`
	// NamespaceSelector selects further namespaces by their labels.
	//
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// TargetNamespaces are the namespaces that the requests may name Secrets and
	// ServiceAccounts of. Empty is the request's own namespace. Requests of Tabard's own
	// namespace may name any.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	TargetNamespaces []string `json:"targetNamespaces,omitempty"`
	// AWS bounds roles in AWS.
	//
	// +optional
	AWS *AWSBoundary `json:"aws,omitempty"`
}

// AWSBoundary bounds roles in AWS.
type AWSBoundary struct {
	// PermissionsBoundary is the ARN of the managed policy that each role gets as its
	// permissions boundary. Empty is the one that "tabard credentials bootstrap" made.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	PermissionsBoundary string `json:"permissionsBoundary,omitempty"`
	// PathPrefix is the path of the roles, which begins and ends with a slash. Empty is
	// the path that the controller was told.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^/([!-.0-~]+/)*$`
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
	RoleARNPatterns []string `json:"roleARNPatterns,omitempty"`
	// Ceiling is a permission policy in JSON. A request whose statements can allow what
	// it does not is refused. Without one no statement is allowed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=20480
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
