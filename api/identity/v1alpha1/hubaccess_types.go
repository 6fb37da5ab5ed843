package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// HubAccess records the IAM role and the EKS access entry by which one accepted
// ManagedCluster reaches its hub. It has the name of the ManagedCluster. It exists before
// anything is made in AWS, and until all is gone, also where the ManagedCluster is gone
// before: the agent of an accepted cluster may change its own ManagedCluster, so nothing
// that a deletion goes by stands there.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=hubaccesses,singular=hubaccess,categories=tabard
// +kubebuilder:validation:XValidation:rule="!has(self.spec.access) || self.spec.access.username == self.metadata.name",message="access.username must be the name of the HubAccess, which is that of its ManagedCluster"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Role",type=string,priority=1,JSONPath=`.spec.access.roleARN`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type HubAccess struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   HubAccessSpec   `json:"spec"`
	Status HubAccessStatus `json:"status,omitempty"`
}

// HubAccessList is a list of HubAccess.
//
// +kubebuilder:object:root=true
type HubAccessList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []HubAccess `json:"items"`
}

// HubAccessSpec says which cluster it is for, and what it has. Nothing of it changes; access
// is added to a cluster that could have none at first.
//
// +kubebuilder:validation:XValidation:rule="self.clusterUID == oldSelf.clusterUID && (!has(oldSelf.acceptedAnnotations) || has(self.acceptedAnnotations) && self.acceptedAnnotations == oldSelf.acceptedAnnotations) && (!has(oldSelf.access) || has(self.access) && self.access == oldSelf.access)",message="spec cannot change: deny the ManagedCluster and accept it again, then a new HubAccess is made"
type HubAccessSpec struct {
	// ClusterUID is the one ManagedCluster that is meant, and none of the same name
	// before or after it.
	//
	// +kubebuilder:validation:XValidation:rule="self != ''",message="clusterUID is not empty"
	ClusterUID types.UID `json:"clusterUID"`
	// AcceptedAnnotations are the AWS annotations that the ManagedCluster had when it was seen
	// accepted for the first time: None, or a digest of them. No others give access, as the
	// agent of an accepted cluster may write them. It is absent in objects of versions before.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^(None|sha256:[0-9a-f]{64})$`
	AcceptedAnnotations string `json:"acceptedAnnotations,omitempty"`
	// Access is what is made in AWS. It is absent for a cluster that gets nothing there.
	//
	// +optional
	Access *ClusterAccess `json:"access,omitempty"`
}

// ClusterAccess is the role and the access entry of one cluster, as its annotations were
// when it was accepted.
//
// +kubebuilder:validation:XValidation:rule="self.roleARN.endsWith(':role/ocm-hub-' + self.suffix)",message="roleARN must end with :role/ocm-hub-SUFFIX"
// +kubebuilder:validation:XValidation:rule="self.roleARN.split(':')[1] == self.hubARN.split(':')[1] && self.roleARN.split(':')[4] == self.hubARN.split(':')[4]",message="roleARN must be in the partition and the account of hubARN"
type ClusterAccess struct {
	// HubARN is the ARN of the hub in EKS.
	//
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^arn:aws(-[a-z]+)*:eks:[a-zA-Z0-9-]+:[0-9]{12}:cluster/[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`
	HubARN string `json:"hubARN"`
	// ManagedClusterARN is the ARN of the cluster in EKS.
	//
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^arn:aws(-[a-z]+)*:eks:[a-zA-Z0-9-]+:[0-9]{12}:cluster/[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`
	ManagedClusterARN string `json:"managedClusterARN"`
	// Suffix is what the names of its roles end with.
	//
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	Suffix string `json:"suffix"`
	// RoleARN is the role in the hub's account.
	//
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/ocm-hub-[0-9a-f]{32}$`
	RoleARN string `json:"roleARN"`
	// Username is what the access entry makes of the role: the name of the ManagedCluster.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Username string `json:"username"`
}

// HubAccessStatus is what was found.
type HubAccessStatus struct {
	// Conditions: Ready.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions returns the stored conditions.
func (h *HubAccess) GetConditions() []metav1.Condition { return h.Status.Conditions }
