package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// IAMRoleChoice says which of the IAMRoleSelectors that an administrator offers
// a namespace's resources use. It can choose among them, and add nothing.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=iamrolechoices,singular=iamrolechoice,categories=tabard
// +kubebuilder:printcolumn:name="Selector",type=string,JSONPath=`.spec.selectorRef.name`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IAMRoleChoice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec IAMRoleChoiceSpec `json:"spec"`
}

// IAMRoleChoiceList is a list of IAMRoleChoice.
//
// +kubebuilder:object:root=true
type IAMRoleChoiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []IAMRoleChoice `json:"items"`
}

// IAMRoleChoiceSpec is a choice for the resources of its namespace that both of
// its selectors select.
type IAMRoleChoiceSpec struct {
	// SelectorRef names the IAMRoleSelector.
	SelectorRef SelectorRef `json:"selectorRef"`
	// ResourceTypeSelector selects resources by what they are: those of any
	// entry. Empty is any.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, (has(a.apiVersion) ? a.apiVersion : (has(a.group) ? a.group : '') + '/' + (has(a.version) ? a.version : '')) == (has(b.apiVersion) ? b.apiVersion : (has(b.group) ? b.group : '') + '/' + (has(b.version) ? b.version : '')) && (has(a.kind) ? a.kind : '') == (has(b.kind) ? b.kind : '')))",message="two entries are the same type"
	ResourceTypeSelector []services.ResourceType `json:"resourceTypeSelector,omitempty"`
	// ResourceLabelSelector selects resources by their labels.
	//
	// +optional
	ResourceLabelSelector *services.LabelSelector `json:"resourceLabelSelector,omitempty"`
}

// SelectorRef names an IAMRoleSelector.
type SelectorRef struct {
	// Name is its name.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// UID, if it is set, is the one object that is meant: one that is made anew
	// under the name is not chosen.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self != ''",message="uid is not empty: leave it out to pin nothing"
	UID types.UID `json:"uid,omitempty"`
}
