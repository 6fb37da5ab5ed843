package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// CredentialsRequest asks for credentials of a cloud: what they shall allow, and where
// workloads find them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=credentialsrequests,singular=credentialsrequest
// +kubebuilder:printcolumn:name="Ready",type=boolean,JSONPath=`.status.provisioned`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.status=="True")].reason`
// +kubebuilder:printcolumn:name="Role",type=string,priority=1,JSONPath=`.status.providerStatus.user`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.status=="True")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CredentialsRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CredentialsRequestSpec   `json:"spec"`
	Status CredentialsRequestStatus `json:"status,omitempty"`
}

// CredentialsRequestList is a list of CredentialsRequest.
//
// +kubebuilder:object:root=true
type CredentialsRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CredentialsRequest `json:"items"`
}

// CredentialsRequestSpec is what is asked for. A fault that was stored before there were
// rules stays, until the fields that it is in are changed.
//
// +kubebuilder:validation:XValidation:rule="has(self.providerSpec) || (oldSelf.hasValue() && !has(oldSelf.value().providerSpec))",optionalOldSelf=true,message="providerSpec is required: what the credentials shall allow, with its apiVersion and kind",reason=FieldValueRequired,fieldPath=".providerSpec"
// +kubebuilder:validation:XValidation:rule="(has(self.storage) && (has(self.storage.secret) || has(self.storage.serviceAccount))) || (has(self.secretRef) && has(self.secretRef.name) && has(self.secretRef.__namespace__) && self.secretRef.name.size() > 0 && self.secretRef.__namespace__.size() > 0) || (oldSelf.hasValue() && !has(oldSelf.value().storage) && (!has(oldSelf.value().secretRef) || !has(oldSelf.value().secretRef.name) || oldSelf.value().secretRef.name.size() == 0 || (has(self.secretRef) && has(self.secretRef.name) && self.secretRef.name.size() > 0)))",optionalOldSelf=true,message="a target is required: storage.serviceAccount, storage.secret, or secretRef with a name and a namespace that are not empty"
// +kubebuilder:validation:XValidation:rule="!has(self.storage) || !has(self.storage.type) || self.storage.type != 'Secret' || has(self.storage.secret) || (has(self.secretRef) && has(self.secretRef.name) && has(self.secretRef.__namespace__) && self.secretRef.name.size() > 0 && self.secretRef.__namespace__.size() > 0)",message="storage.type is Secret: storage.secret is required, or secretRef with a name and a namespace",reason=FieldValueRequired,fieldPath=".storage"
type CredentialsRequestSpec struct {
	// SecretRef names the Secret that the credentials are written to. Deprecated: use
	// storage, which wins over it.
	//
	// +optional
	SecretRef *ObjectReference `json:"secretRef,omitempty"`
	// Storage says where workloads find the credentials.
	//
	// +optional
	Storage *Storage `json:"storage,omitempty"`
	// ProviderSpec is what the credentials shall allow: an AWSProviderSpec,
	// AzureProviderSpec or GCPProviderSpec with its apiVersion and kind. Kinds of other
	// clouds are ignored.
	//
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	ProviderSpec *runtime.RawExtension `json:"providerSpec,omitempty"`
	// ServiceAccountNames are the ServiceAccounts of the target Secret's namespace
	// that use the Secret.
	//
	// +optional
	ServiceAccountNames []string `json:"serviceAccountNames,omitempty"`
	// CloudTokenPath is the path of the projected token in the workload's pod.
	//
	// +optional
	CloudTokenPath string `json:"cloudTokenPath,omitempty"`
}

// ObjectReference has the fields of the core type of this name. Name and namespace count.
//
// +structType=atomic
type ObjectReference struct {
	// +optional
	Kind string `json:"kind,omitempty"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// +optional
	FieldPath string `json:"fieldPath,omitempty"`
}

// StorageType says what kind of object holds the credentials.
//
// +kubebuilder:validation:Enum=Secret;ServiceAccount
type StorageType string

// The types of storage.
const (
	// StorageSecret is a Secret with the configuration of the cloud's SDK.
	StorageSecret StorageType = "Secret"
	// StorageServiceAccount is a ServiceAccount with the annotation of its role.
	StorageServiceAccount StorageType = "ServiceAccount"
)

// Storage is a Secret or a ServiceAccount.
//
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'ServiceAccount' || has(self.serviceAccount)",message="type is ServiceAccount: serviceAccount is required",reason=FieldValueRequired,fieldPath=".serviceAccount"
// +kubebuilder:validation:XValidation:rule="has(self.type) || !(has(self.secret) && has(self.serviceAccount))",message="secret and serviceAccount are both set: say by type which one is meant, or leave one out"
type Storage struct {
	// Type is the member that is meant. Without it the one member that is set is meant.
	//
	// +optional
	Type StorageType `json:"type,omitempty"`
	// Secret is the Secret that the configuration is written to.
	//
	// +optional
	Secret *StorageRef `json:"secret,omitempty"`
	// ServiceAccount is the account whose pods become the role.
	//
	// +optional
	ServiceAccount *StorageRef `json:"serviceAccount,omitempty"`
}

// StorageRef names an object.
type StorageRef struct {
	// Namespace is its namespace.
	//
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="namespace must be the name of a namespace: lower-case letters, digits and -"
	Namespace string `json:"namespace"`
	// Name is its name.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="name must be the name of an object: lower-case letters, digits, - and ."
	Name string `json:"name"`
}

// CredentialsRequestStatus is what was done, in the form of the Cloud Credential
// Operator. Where that operator is live, it alone writes it.
type CredentialsRequestStatus struct {
	// Provisioned is true once the credentials are there.
	Provisioned bool `json:"provisioned"`
	// LastSyncTimestamp is when the request was last fulfilled anew.
	//
	// +optional
	LastSyncTimestamp *metav1.Time `json:"lastSyncTimestamp,omitempty"`
	// LastSyncGeneration is the generation of the spec that was last looked at.
	LastSyncGeneration int64 `json:"lastSyncGeneration"`
	// LastSyncCloudCredsSecretResourceVersion is the Cloud Credential Operator's.
	//
	// +optional
	LastSyncCloudCredsSecretResourceVersion string `json:"lastSyncCloudCredsSecretResourceVersion,omitempty"`
	// LastSyncInfrastructureResourceVersion is the Cloud Credential Operator's.
	//
	// +optional
	LastSyncInfrastructureResourceVersion string `json:"lastSyncInfrastructureResourceVersion,omitempty"`
	// ProviderStatus is a cloud's own: an AWSProviderStatus for AWS.
	//
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`
	// Conditions are those that have been True once.
	//
	// +optional
	Conditions []CredentialsRequestCondition `json:"conditions,omitempty"`
}

// ConditionType is the type of a condition.
type ConditionType string

// The condition types.
const (
	InsufficientCloudCredentials  ConditionType = "InsufficientCloudCreds"
	MissingTargetNamespace        ConditionType = "MissingTargetNamespace"
	CredentialsProvisionFailure   ConditionType = "CredentialsProvisionFailure"
	CredentialsDeprovisionFailure ConditionType = "CredentialsDeprovisionFailure"
	Ignored                       ConditionType = "Ignored"
	OrphanedCloudResource         ConditionType = "OrphanedCloudResource"
	StaleCredentials              ConditionType = "StaleCredentials"
)

// CredentialsRequestCondition is one condition. Unlike conditions of newer kinds, one
// that never was True is absent.
type CredentialsRequestCondition struct {
	// Type is the condition's type.
	Type ConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// LastProbeTime is when the text changed last.
	//
	// +optional
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty"`
	// LastTransitionTime is when the status changed last.
	//
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// Reason is a word in PascalCase.
	//
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	//
	// +optional
	Message string `json:"message,omitempty"`
}

// GetConditions is nil: the conditions of this kind are of a form of their own.
func (r *CredentialsRequest) GetConditions() []metav1.Condition { return nil }
