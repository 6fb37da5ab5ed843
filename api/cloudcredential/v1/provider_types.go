package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The kinds of provider specs that are fulfilled.
const (
	AWSProviderSpecKind   = "AWSProviderSpec"
	AzureProviderSpecKind = "AzureProviderSpec"
	GCPProviderSpecKind   = "GCPProviderSpec"
)

// Finalizer is the Cloud Credential Operator's.
const Finalizer = "cloudcredential.openshift.io/deprovision"

// RequestKey is the Cloud Credential Operator's label, with the value "true", and its
// annotation, with the value NAMESPACE/NAME of the request, on Secrets that it writes.
const RequestKey = "cloudcredential.openshift.io/credentials-request"

// MintedPolicyAnnotation is on Secrets that hold a key that the Cloud Credential Operator
// minted.
const MintedPolicyAnnotation = "cloudcredential.openshift.io/aws-policy-last-applied"

// AWSProviderSpec is what is asked of AWS.
//
// +kubebuilder:object:generate=false
type AWSProviderSpec struct {
	metav1.TypeMeta `json:",inline"`
	// StatementEntries are the statements of the permission policy, in order.
	//
	// +optional
	StatementEntries []StatementEntry `json:"statementEntries,omitempty"`
	// STSIAMRoleARN is the role to become, made by somebody else.
	//
	// +optional
	STSIAMRoleARN string `json:"stsIAMRoleARN,omitempty"`
}

// StatementEntry is one statement of a permission policy.
//
// +kubebuilder:object:generate=false
type StatementEntry struct {
	// Effect is Allow or Deny.
	Effect string `json:"effect"`
	// Action are the actions.
	Action []string `json:"action"`
	// Resource is the one resource.
	Resource string `json:"resource"`
	// PolicyCondition is the statement's Condition: operator, key, a string or a list of
	// strings.
	//
	// +optional
	PolicyCondition IAMPolicyCondition `json:"policyCondition,omitempty"`
}

// IAMPolicyCondition maps an operator to the keys that it compares.
//
// +kubebuilder:object:generate=false
type IAMPolicyCondition map[string]IAMPolicyConditionKeyValue

// IAMPolicyConditionKeyValue maps a condition key to a string or a list of strings.
//
// +kubebuilder:object:generate=false
type IAMPolicyConditionKeyValue map[string]any

// AWSProviderStatus names what was made in AWS.
//
// +kubebuilder:object:generate=false
type AWSProviderStatus struct {
	metav1.TypeMeta `json:",inline"`
	// User is the name of the role. The Cloud Credential Operator keeps a user's name here.
	User string `json:"user"`
	// Policy is the name of the inline policy.
	Policy string `json:"policy"`
}

// AzureProviderSpec is what is asked of Azure.
//
// +kubebuilder:object:generate=false
type AzureProviderSpec struct {
	metav1.TypeMeta `json:",inline"`
	// RoleBindings are the roles.
	//
	// +optional
	RoleBindings []AzureRoleBinding `json:"roleBindings,omitempty"`
	// Permissions are actions of a custom role.
	//
	// +optional
	Permissions []string `json:"permissions,omitempty"`
	// DataPermissions are data actions of a custom role.
	//
	// +optional
	DataPermissions []string `json:"dataPermissions,omitempty"`
	// AzureClientID is the client to become.
	//
	// +optional
	AzureClientID string `json:"azureClientID,omitempty"`
	// AzureRegion is the region of the cluster.
	//
	// +optional
	AzureRegion string `json:"azureRegion,omitempty"`
	// AzureSubscriptionID is the subscription.
	//
	// +optional
	AzureSubscriptionID string `json:"azureSubscriptionID,omitempty"`
	// AzureTenantID is the tenant.
	//
	// +optional
	AzureTenantID string `json:"azureTenantID,omitempty"`
}

// AzureRoleBinding is one role.
//
// +kubebuilder:object:generate=false
type AzureRoleBinding struct {
	// Role is its name.
	Role string `json:"role"`
}

// GCPProviderSpec is what is asked of Google Cloud.
//
// +kubebuilder:object:generate=false
type GCPProviderSpec struct {
	metav1.TypeMeta `json:",inline"`
	// PredefinedRoles are the roles.
	//
	// +optional
	PredefinedRoles []string `json:"predefinedRoles,omitempty"`
	// Permissions are those of a custom role.
	//
	// +optional
	Permissions []string `json:"permissions,omitempty"`
	// SkipServiceCheck leaves out the check whether services are enabled.
	//
	// +optional
	SkipServiceCheck bool `json:"skipServiceCheck,omitempty"`
	// ServiceAccountEmail is the Google service account to become.
	//
	// +optional
	ServiceAccountEmail string `json:"serviceAccountEmail,omitempty"`
	// Audience is the workload identity provider.
	//
	// +optional
	Audience string `json:"audience,omitempty"`
}
