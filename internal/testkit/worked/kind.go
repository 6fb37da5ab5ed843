package worked

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AddToScheme adds the kind.
func AddToScheme(scheme *runtime.Scheme) error {
	group := schema.GroupVersion{Group: "worked.example", Version: "v1"}
	scheme.AddKnownTypes(group, &Mailbox{}, &MailboxList{})
	metav1.AddToGroupVersion(scheme, group)
	return nil
}

// Mailbox is the kind. In the product it is in api, and the DeepCopy methods are generated.
type Mailbox struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            MailboxStatus `json:"status,omitzero"`
}

// MailboxStatus is what was observed.
type MailboxStatus struct {
	Bucket     string             `json:"bucket,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions implements controller.Object.
func (m *Mailbox) GetConditions() []metav1.Condition { return m.Status.Conditions }

// DeepCopyObject implements runtime.Object.
func (m *Mailbox) DeepCopyObject() runtime.Object {
	return &Mailbox{TypeMeta: m.TypeMeta, ObjectMeta: *m.ObjectMeta.DeepCopy(), Status: *m.Status.DeepCopy()}
}

// DeepCopy is a copy.
func (s *MailboxStatus) DeepCopy() *MailboxStatus {
	return &MailboxStatus{Bucket: s.Bucket, Conditions: slices.Clone(s.Conditions)}
}

// MailboxList is a list of them.
type MailboxList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Mailbox `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *MailboxList) DeepCopyObject() runtime.Object {
	out := &MailboxList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for _, one := range l.Items {
		out.Items = append(out.Items, *one.DeepCopyObject().(*Mailbox))
	}
	return out
}
