package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IAMRoleSelector says which resources are managed with an IAM role: those that
// all of its selectors select. A selector that is left out selects everything.
// Nothing but a person, or a tool in a person's hand, writes it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=iamroleselectors,singular=iamroleselector
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.arn`
// +kubebuilder:printcolumn:name="Namespaces",type=string,JSONPath=`.spec.namespaceSelector.names`
// +kubebuilder:printcolumn:name="Types",type=string,JSONPath=`.spec.resourceTypeSelector[*].kind`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IAMRoleSelector struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the role and what it is for.
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
type IAMRoleSelectorSpec struct {
	// ARN is the IAM role that is assumed. It cannot be changed.
	//
	// +optional
	ARN string `json:"arn,omitempty"`

	// NamespaceSelector selects resources by their namespace.
	//
	// +optional
	NamespaceSelector *NamespaceSelector `json:"namespaceSelector,omitempty"`

	// ResourceTypeSelector selects resources by what they are: those of any
	// entry.
	//
	// +optional
	ResourceTypeSelector []ResourceType `json:"resourceTypeSelector,omitempty"`

	// ResourceLabelSelector selects resources by their own labels. Whoever may
	// edit a resource may change those.
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
	// says so; Recreate makes it anew in the other account.
	//
	// +optional
	OnAccountChange AccountChange `json:"onAccountChange,omitempty"`
}

// NamespaceSelector selects namespaces that both of its parts select.
type NamespaceSelector struct {
	// Names are exact names; empty is any.
	//
	// +optional
	Names []string `json:"names,omitempty"`
	// LabelSelector selects by the namespace's labels.
	//
	// +optional
	LabelSelector *LabelSelector `json:"labelSelector,omitempty"`
}

// LabelSelector is Kubernetes' label selector: all of its terms must hold.
type LabelSelector struct {
	// MatchLabels are pairs that must be there.
	//
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions are further terms.
	//
	// +optional
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelRequirement is a term of a label selector.
type LabelRequirement struct {
	// Key is the label's key.
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist.
	//
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`
	// Values are those of In and NotIn.
	//
	// +optional
	Values []string `json:"values,omitempty"`
}

// ResourceType is either a group's version with a kind in it, or any parts of
// group, version and kind. A part that is empty or left out is any.
type ResourceType struct {
	// APIVersion is GROUP/VERSION. It excludes group and version.
	//
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Group is such as s3.services.k8s.aws.
	//
	// +optional
	Group string `json:"group,omitempty"`
	// Version is such as v1alpha1.
	//
	// +optional
	Version string `json:"version,omitempty"`
	// Kind is such as Bucket.
	//
	// +optional
	Kind string `json:"kind,omitempty"`
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
	// Recreate makes the resource anew in the new account.
	Recreate AccountChange = "Recreate"
)

// Selection bounds the choice between selectors that select the same resource.
type Selection struct {
	// Mode is Exclusive, the default: any other selector of the same resource is
	// a conflict; or Selectable: a choice may decide.
	//
	// +optional
	Mode SelectionMode `json:"mode,omitempty"`
	// Default is used among selectable ones when nobody has chosen.
	//
	// +optional
	Default bool `json:"default,omitempty"`
	// RequireChoice is used only when it is chosen.
	//
	// +optional
	RequireChoice bool `json:"requireChoice,omitempty"`
	// Choosers are the ways in which this selector may be chosen; left out, it is
	// NamespaceChoice alone.
	//
	// +optional
	// +listType=set
	Choosers []Chooser `json:"choosers,omitempty"`
}

// SelectionMode is how a selector stands beside others.
//
// +kubebuilder:validation:Enum=Exclusive;Selectable
type SelectionMode string

// The modes.
const (
	// Exclusive selectors stand alone. It is the default.
	Exclusive SelectionMode = "Exclusive"
	// Selectable selectors may overlap with other selectable ones.
	Selectable SelectionMode = "Selectable"
)

// Chooser is a way in which a namespace's people choose.
//
// +kubebuilder:validation:Enum=NamespaceChoice;ResourceAnnotation
type Chooser string

// The choosers.
const (
	// NamespaceChoice is an IAMRoleChoice in the resource's namespace.
	NamespaceChoice Chooser = "NamespaceChoice"
	// ResourceAnnotation is ChoiceAnnotation on the resource.
	ResourceAnnotation Chooser = "ResourceAnnotation"
)

// ChoiceAnnotation is the annotation of a resource that names the IAMRoleSelector to use.
const ChoiceAnnotation = "services.k8s.aws/iam-role-selector"

// AssumeRole is the input of STS's AssumeRole beside the role (AWS STS API
// Reference: AssumeRole). Templates hold variables as %NAME%.
type AssumeRole struct {
	// ExternalID is what the role's trust policy may ask for.
	//
	// +optional
	ExternalID *Text `json:"externalID,omitempty"`
	// SessionName is what CloudTrail shows.
	//
	// +optional
	SessionName *Text `json:"sessionName,omitempty"`
	// DurationSeconds is how long credentials hold.
	//
	// +optional
	// +kubebuilder:validation:Minimum=900
	// +kubebuilder:validation:Maximum=3600
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`
	// SessionTags are tags of the session, for policies' aws:PrincipalTag.
	//
	// +optional
	// +listType=map
	// +listMapKey=key
	SessionTags []SessionTag `json:"sessionTags,omitempty"`
	// TransitiveTagKeys are keys of tags that go on to further sessions.
	//
	// +optional
	// +listType=set
	TransitiveTagKeys []string `json:"transitiveTagKeys,omitempty"`
	// SourceIdentity stays with all sessions that come from this one.
	//
	// +optional
	SourceIdentity *Text `json:"sourceIdentity,omitempty"`
	// PolicyARNs are managed policies that narrow the session.
	//
	// +optional
	// +listType=set
	PolicyARNs []string `json:"policyARNs,omitempty"`
	// CacheScope is what shares credentials; it may be narrower than what the
	// templates ask for, never wider.
	//
	// +optional
	CacheScope CacheScope `json:"cacheScope,omitempty"`
}

// Text is a fixed text or one with variables in it.
type Text struct {
	// Value is used as it is.
	//
	// +optional
	Value string `json:"value,omitempty"`
	// Template holds variables as %NAME%.
	//
	// +optional
	Template string `json:"template,omitempty"`
}

// SessionTag is one tag of a session.
type SessionTag struct {
	// Key is the tag's key.
	Key string `json:"key"`
	// Text is its value.
	Text `json:",inline"`
}

// CacheScope is what shares one session.
//
// +kubebuilder:validation:Enum=Selector;Namespace;Resource
type CacheScope string

// The scopes.
const (
	SelectorScope  CacheScope = "Selector"
	NamespaceScope CacheScope = "Namespace"
	ResourceScope  CacheScope = "Resource"
)
