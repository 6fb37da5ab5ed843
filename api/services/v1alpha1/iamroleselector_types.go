package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IAMRoleSelector says which resources are managed with an IAM role: those that
// all of its selectors select. A selector that is left out selects everything.
// Nothing but a person, or a tool in a person's hand, writes it.
//
// What was stored before a rule was there stays as it is and can be edited
// elsewhere: the API server asks the rules of what an edit changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=iamroleselectors,singular=iamroleselector
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.arn`
// +kubebuilder:printcolumn:name="Namespaces",type=string,JSONPath=`.spec.namespaceSelector.names`
// +kubebuilder:printcolumn:name="Types",type=string,JSONPath=`.spec.resourceTypeSelector`
// +kubebuilder:printcolumn:name="Effect",type=string,priority=1,JSONPath=`.spec.effect`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="has(self.spec) || oldSelf.hasValue()",optionalOldSelf=true,message="spec is required",reason=FieldValueRequired,fieldPath=".spec"
// +kubebuilder:validation:XValidation:rule="has(self.spec) || !has(oldSelf.spec)",message="Value is immutable once set: spec holds the role and cannot be removed",fieldPath=".spec"
type IAMRoleSelector struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the role and what it is for. Once set it cannot be removed.
	//
	// +optional
	Spec *IAMRoleSelectorSpec `json:"spec,omitempty"`
	// Status has no fields: the object is shared by all controllers, so that none
	// of them writes it.
	//
	// +optional
	Status *IAMRoleSelectorStatus `json:"status,omitempty"`
}

// IAMRoleSelectorList is a list of IAMRoleSelector.
//
// +kubebuilder:object:root=true
type IAMRoleSelectorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []IAMRoleSelector `json:"items"`
}

// IAMRoleSelectorStatus is empty.
type IAMRoleSelectorStatus struct{}

// IAMRoleSelectorSpec is one role and the resources that it is for.
//
// +kubebuilder:validation:XValidation:rule="has(self.arn) || (has(self.effect) && self.effect == 'Deny')",message="arn is required unless effect is Deny",reason=FieldValueRequired,fieldPath=".arn"
// +kubebuilder:validation:XValidation:rule="!has(self.effect) || self.effect != 'Deny' || !(has(self.arn) || has(self.assumeRole) || has(self.selection) || has(self.onAccountChange))",message="effect Deny uses no role: leave out arn, assumeRole, selection and onAccountChange",reason=FieldValueForbidden,fieldPath=".effect"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.arn) || oldSelf.arn.size() == 0 || (has(self.arn) && self.arn == oldSelf.arn)",message="Value is immutable once set",fieldPath=".arn"
// +kubebuilder:validation:XValidation:rule="!has(self.resourceLabelSelector) || (has(self.resourceLabelSelector.matchLabels) && self.resourceLabelSelector.matchLabels.size() > 0) || (has(self.resourceLabelSelector.matchExpressions) && self.resourceLabelSelector.matchExpressions.size() > 0) || (has(self.namespaceSelector) && ((has(self.namespaceSelector.names) && self.namespaceSelector.names.size() > 0) || (has(self.namespaceSelector.labelSelector) && ((has(self.namespaceSelector.labelSelector.matchLabels) && self.namespaceSelector.labelSelector.matchLabels.size() > 0) || (has(self.namespaceSelector.labelSelector.matchExpressions) && self.namespaceSelector.labelSelector.matchExpressions.size() > 0)))))",message="the label selector has no term, and no namespace is named, so that it selects nothing: give it a label whose value is not null, or leave it out",fieldPath=".resourceLabelSelector"
type IAMRoleSelectorSpec struct {
	// ARN is the IAM role that is assumed. It cannot be changed: make a second
	// object for a second role. Required unless effect is Deny, which has none.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z0-9-]*:iam::[0-9]{12}:role/([!-~]{1,510}/)?[A-Za-z0-9_+=,.@-]+$`
	ARN string `json:"arn,omitempty"`

	// NamespaceSelector selects resources by their namespace.
	//
	// +optional
	NamespaceSelector *NamespaceSelector `json:"namespaceSelector,omitempty"`

	// ResourceTypeSelector selects resources by what they are: those of any
	// entry. Empty is any.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, (has(a.apiVersion) ? a.apiVersion : (has(a.group) ? a.group : '') + '/' + (has(a.version) ? a.version : '')) == (has(b.apiVersion) ? b.apiVersion : (has(b.group) ? b.group : '') + '/' + (has(b.version) ? b.version : '')) && (has(a.kind) ? a.kind : '') == (has(b.kind) ? b.kind : '')))",message="two entries are the same type"
	ResourceTypeSelector []ResourceType `json:"resourceTypeSelector,omitempty"`

	// ResourceLabelSelector selects resources by their own labels. Whoever may
	// edit a resource may change those, and so come to a role or leave one. One
	// without terms is any, where namespaces are named beside it; else nothing.
	//
	// +optional
	ResourceLabelSelector *LabelSelector `json:"resourceLabelSelector,omitempty"`

	// Effect says what is done with the resources: Use, the default, manages them
	// with the role; Deny manages them with no role at all.
	//
	// +optional
	Effect Effect `json:"effect,omitempty"`

	// AssumeRole says how the role is assumed.
	//
	// +optional
	AssumeRole *AssumeRole `json:"assumeRole,omitempty"`

	// Selection says whether a namespace's own people may choose this selector
	// among several.
	//
	// +optional
	Selection *Selection `json:"selection,omitempty"`

	// OnAccountChange says what is done when a resource that exists in one
	// account comes to a role of another: Refuse, the default, does nothing and
	// says so; Recreate, after an announcement, deletes it where it is and makes it
	// anew in the other account, if the selector of old still selects it and the
	// deletion policy does not retain it.
	//
	// +optional
	OnAccountChange AccountChange `json:"onAccountChange,omitempty"`
}

// Effect is what a selector does with the resources that it selects.
//
// +kubebuilder:validation:Enum=Use;Deny
type Effect string

// The effects.
const (
	// Use manages the resources with the role. It is the default.
	Use Effect = "Use"
	// Deny leaves the resources alone: no role is used for them.
	Deny Effect = "Deny"
)

// AccountChange is what is done when a resource's role comes to be of another
// account.
//
// +kubebuilder:validation:Enum=Refuse;Recreate
type AccountChange string

// The account changes.
const (
	// Refuse leaves the resource where it is and reports it. It is the default.
	Refuse AccountChange = "Refuse"
	// Recreate deletes the resource where it is and makes it anew in the new account.
	Recreate AccountChange = "Recreate"
)
