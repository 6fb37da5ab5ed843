package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CredentialsGrant records what Tabard does for one CredentialsRequest: the role, the
// object that workloads find it by, and what is wrong. It is Tabard's own, because the
// Cloud Credential Operator writes over the status of the request. It exists before
// anything is made in AWS, and until all is gone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=credentialsgrants,singular=credentialsgrant,categories=tabard
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.spec.request.namespace`
// +kubebuilder:printcolumn:name="Request",type=string,JSONPath=`.spec.request.name`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Role",type=string,priority=1,JSONPath=`.status.role.arn`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CredentialsGrant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CredentialsGrantSpec   `json:"spec"`
	Status CredentialsGrantStatus `json:"status,omitempty"`
}

// CredentialsGrantList is a list of CredentialsGrant.
//
// +kubebuilder:object:root=true
type CredentialsGrantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CredentialsGrant `json:"items"`
}

// CredentialsGrantSpec says which request it is for, and what an administrator decided
// about it.
type CredentialsGrantSpec struct {
	// Request is the request. It never changes.
	//
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="request cannot change: a grant is for one request"
	Request RequestRef `json:"request"`
	// Adopted says that an administrator had Tabard take the request over from a Cloud
	// Credential Operator that is gone: "tabard credentials adopt".
	//
	// +optional
	Adopted bool `json:"adopted,omitempty"`
	// Bound is the identity that an administrator gave the request: "tabard credentials
	// bind".
	//
	// +optional
	Bound *BoundIdentity `json:"bound,omitempty"`
}

// RequestRef is one CredentialsRequest.
type RequestRef struct {
	// Namespace is its namespace.
	//
	// +kubebuilder:validation:MinLength=1
	Namespace string `json:"namespace"`
	// Name is its name.
	//
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// UID is the one object that is meant.
	//
	// +kubebuilder:validation:XValidation:rule="self != ''",message="uid is not empty"
	UID types.UID `json:"uid"`
}

// BoundIdentity is an identity in one cloud: the fields of that cloud's provider spec.
//
// +kubebuilder:validation:XValidation:rule="[has(self.roleARN), has(self.azureClientID) || has(self.azureTenantID) || has(self.azureSubscriptionID) || has(self.azureRegion), has(self.serviceAccountEmail) || has(self.audience)].filter(cloud, cloud).size() == 1",message="the identity is of one cloud: roleARN, or the azure fields, or serviceAccountEmail and audience"
type BoundIdentity struct {
	// RoleARN is a role in AWS.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=640
	// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$')",message="roleARN must be the ARN of a role: arn:aws:iam::ACCOUNT:role/NAME"
	RoleARN string `json:"roleARN,omitempty"`
	// AzureClientID, AzureTenantID, AzureSubscriptionID and AzureRegion are an identity in Azure.
	//
	// +optional
	AzureClientID string `json:"azureClientID,omitempty"`
	// +optional
	AzureTenantID string `json:"azureTenantID,omitempty"`
	// +optional
	AzureSubscriptionID string `json:"azureSubscriptionID,omitempty"`
	// +optional
	AzureRegion string `json:"azureRegion,omitempty"`
	// ServiceAccountEmail and Audience are an identity in Google Cloud.
	//
	// +optional
	ServiceAccountEmail string `json:"serviceAccountEmail,omitempty"`
	// +optional
	Audience string `json:"audience,omitempty"`
}

// CredentialsGrantStatus is the record.
type CredentialsGrantStatus struct {
	// ObservedGeneration is the request's generation that the conditions are about.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Role is the role that Tabard made, or is about to make.
	//
	// +optional
	Role *GrantedRole `json:"role,omitempty"`
	// Targets are the objects that Tabard writes for the request. More than one while
	// the request moves from one to another: the last is the wanted one.
	//
	// +optional
	// +listType=atomic
	Targets []GrantedTarget `json:"targets,omitempty"`
	// Issuers are the issuers that the role trusts, the wanted one first.
	//
	// +optional
	// +listType=atomic
	Issuers []TrustedIssuer `json:"issuers,omitempty"`
	// Conditions: Accepted, RolePresent, Delivered, Ready, RoleOutOfSync where it was
	// looked at, and AudiencesServed where it is known what the pods ask for.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GrantedRole is a role in AWS.
type GrantedRole struct {
	// AccountID is the account of the role.
	AccountID string `json:"accountID"`
	// Name is the role's name.
	Name string `json:"name"`
	// Path is its path.
	Path string `json:"path"`
	// ARN is its ARN.
	ARN string `json:"arn"`
	// PolicyName is the name of its inline policy.
	PolicyName string `json:"policyName"`
	// PermissionsBoundary is the ARN of its permissions boundary.
	//
	// +optional
	PermissionsBoundary string `json:"permissionsBoundary,omitempty"`
}

// GrantedTarget is an object that workloads find credentials by.
type GrantedTarget struct {
	// Kind is Secret or ServiceAccount.
	//
	// +kubebuilder:validation:Enum=Secret;ServiceAccount
	Kind string `json:"kind"`
	// Namespace is its namespace.
	Namespace string `json:"namespace"`
	// Name is its name.
	Name string `json:"name"`
	// Created says that Tabard made the object. One that was there is not deleted.
	//
	// +optional
	Created bool `json:"created,omitempty"`
}

// TrustedIssuer is an issuer that a role trusts.
type TrustedIssuer struct {
	// URL is the issuer's.
	URL string `json:"url"`
	// ProviderARN is its provider in IAM.
	ProviderARN string `json:"providerARN"`
	// RetireAfter is when a former issuer leaves the trust; absent for the wanted one and
	// for one whose retirement has not begun.
	//
	// +optional
	RetireAfter *metav1.Time `json:"retireAfter,omitempty"`
}

// GetConditions returns the stored conditions.
func (g *CredentialsGrant) GetConditions() []metav1.Condition { return g.Status.Conditions }
