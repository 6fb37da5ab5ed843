package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// IAMRoleSelectorReport says who uses the IAMRoleSelector of the same name. One
// program writes it, so that the selector itself is written by nobody but its
// administrator. It may be older than what it speaks of, and nothing decides by it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=iamroleselectorreports,singular=iamroleselectorreport,categories=tabard
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Used",type=integer,JSONPath=`.status.used`
// +kubebuilder:printcolumn:name="Conflicts",type=integer,JSONPath=`.status.conflicts`
// +kubebuilder:printcolumn:name="Denied",type=integer,JSONPath=`.status.denied`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IAMRoleSelectorReport struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status IAMRoleSelectorReportStatus `json:"status,omitempty"`
}

// IAMRoleSelectorReportList is a list of IAMRoleSelectorReport.
//
// +kubebuilder:object:root=true
type IAMRoleSelectorReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []IAMRoleSelectorReport `json:"items"`
}

// MaxReportedResources is how many entries a report's list of resources has at most.
const MaxReportedResources = 256

// IAMRoleSelectorReportStatus is what was observed of one selector.
type IAMRoleSelectorReportStatus struct {
	// SelectorUID is the selector that was observed: another one may have come
	// under the name since.
	//
	// +optional
	SelectorUID types.UID `json:"selectorUID,omitempty"`
	// SelectorGeneration is the selector's generation then.
	//
	// +optional
	SelectorGeneration int64 `json:"selectorGeneration,omitempty"`

	SelectorCounts `json:",inline"`

	// Resources are the counts by kind and namespace, those with most resources
	// first.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Resources []ReportedResources `json:"resources,omitempty"`
	// Truncated says that there are more resources than Resources has room for.
	// The counts above it are whole.
	//
	// +optional
	Truncated bool `json:"truncated,omitempty"`
}

// SelectorCounts are numbers of resources.
type SelectorCounts struct {
	// Used are managed with the selector's role.
	Used int32 `json:"used"`
	// Conflicts are selected by it and by another one that it may not stand beside.
	Conflicts int32 `json:"conflicts"`
	// Denied are left alone because of it, also because it cannot be evaluated.
	Denied int32 `json:"denied"`
}

// ReportedResources are the resources of one kind in one namespace.
type ReportedResources struct {
	// Group is the kind's API group.
	Group string `json:"group"`
	// Kind is the kind.
	Kind string `json:"kind"`
	// Namespace is the namespace.
	Namespace string `json:"namespace"`

	SelectorCounts `json:",inline"`
}
