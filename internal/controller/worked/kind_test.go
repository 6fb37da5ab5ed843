package worked_test

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Queue is the kind. In the product it is in api, and the DeepCopy methods are generated.
type Queue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            QueueStatus `json:"status,omitzero"`
}

// QueueStatus is what was observed.
type QueueStatus struct {
	Name       string             `json:"name,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions implements controller.Object.
func (q *Queue) GetConditions() []metav1.Condition { return q.Status.Conditions }

// DeepCopyObject implements runtime.Object.
func (q *Queue) DeepCopyObject() runtime.Object {
	return &Queue{TypeMeta: q.TypeMeta, ObjectMeta: *q.ObjectMeta.DeepCopy(), Status: *q.Status.DeepCopy()}
}

// DeepCopy is a copy.
func (s *QueueStatus) DeepCopy() *QueueStatus {
	return &QueueStatus{Name: s.Name, Conditions: slices.Clone(s.Conditions)}
}
