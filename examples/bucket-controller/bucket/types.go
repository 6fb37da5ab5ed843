// Package bucket is what the bucket controller knows without any cluster or AWS:
// the kind that it serves, what to do about one Bucket, and how to say it. All of
// it is plain data in and out.
package bucket

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Kind is the kind that the controller serves, a part of ACK's of that name.
var Kind = schema.GroupVersionKind{Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket"}

const (
	// Finalizer keeps a Bucket until its bucket is gone, or left alone on purpose.
	Finalizer = "bucket-controller.example.tabard.dev/finalizer"
	// OwnerTag marks a bucket in AWS as a Bucket's; its value is the Bucket's UID.
	OwnerTag = "tabard.dev/bucket-uid"
	// Service is the short name of the service, in flags, annotations and sessions.
	Service = "s3"
)

// Bucket is one S3 bucket.
//
// +kubebuilder:object:root=true
type Bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec"`
	Status Status `json:"status,omitempty"`
}

// BucketList is a list of Buckets.
//
// +kubebuilder:object:root=true
type BucketList struct { //nolint:revive // a scheme takes the kind from the type's name
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Bucket `json:"items"`
}

// Spec is the bucket that is wanted. Its region is the annotation
// services.k8s.aws/region of the Bucket, or that of its namespace, or the
// controller's.
//
// +kubebuilder:object:generate=true
type Spec struct {
	// Name is the bucket's name, which nobody else in AWS has.
	Name string `json:"name"`
	// Tagging are the bucket's tags.
	Tagging *Tagging `json:"tagging,omitempty"`
}

// Tagging is a list of tags, in S3's form.
//
// +kubebuilder:object:generate=true
type Tagging struct {
	TagSet []Tag `json:"tagSet,omitempty"`
}

// Tag is one tag.
//
// +kubebuilder:object:generate=true
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
}

// Status is what was observed.
//
// +kubebuilder:object:generate=true
type Status struct {
	// ACKResourceMetadata is where the bucket is, or is being made.
	ACKResourceMetadata *ResourceMetadata `json:"ackResourceMetadata,omitempty"`
	// Conditions are ACK's.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ResourceMetadata is written after a call to AWS went well, never before: what
// could not be done with a role must not tie the Bucket to its account.
//
// +kubebuilder:object:generate=true
type ResourceMetadata struct {
	// ARN is set once the bucket exists and is this Bucket's.
	ARN string `json:"arn,omitempty"`
	// OwnerAccountID, Region and Partition are where the role is that was used.
	OwnerAccountID string `json:"ownerAccountID"`
	Region         string `json:"region"`
	Partition      string `json:"partition,omitempty"`
	// IAMRoleSelector is the selector that was used last; nil for the controller's
	// own role.
	IAMRoleSelector *UsedSelector `json:"iamRoleSelector,omitempty"`
}

// UsedSelector is an IAMRoleSelector with which AWS was called.
//
// +kubebuilder:object:generate=true
type UsedSelector struct {
	SelectorName    string    `json:"selectorName"`
	ResourceVersion string    `json:"resourceVersion"`
	UID             types.UID `json:"uid,omitempty"`
	Generation      int64     `json:"generation,omitempty"`
	RoleARN         string    `json:"roleARN,omitempty"`
	DecidedBy       string    `json:"decidedBy,omitempty"`
}

// AddToScheme makes a scheme know the kind.
func AddToScheme(scheme *runtime.Scheme) error {
	version := Kind.GroupVersion()
	scheme.AddKnownTypes(version, &Bucket{}, &BucketList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

// Tags are those that the bucket is to have, its owner's among them.
func (b *Bucket) Tags() map[string]string {
	tags := map[string]string{}
	if b.Spec.Tagging != nil {
		for _, tag := range b.Spec.Tagging.TagSet {
			tags[tag.Key] = tag.Value
		}
	}
	tags[OwnerTag] = string(b.UID)
	return tags
}
