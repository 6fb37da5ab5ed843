package v1alpha1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NamespaceSelector selects namespaces that both of its parts select. One of them
// is there: so names that some template made null do not become all namespaces. Names
// that are empty are any; a label selector without terms selects no namespace, unless
// names are beside it, which then select alone.
//
// +kubebuilder:validation:XValidation:rule="has(self.names) || has(self.labelSelector)",message="names or labelSelector is required: leave namespaceSelector out to select every namespace",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.labelSelector) || (has(self.names) && self.names.size() > 0) || (has(self.labelSelector.matchLabels) && self.labelSelector.matchLabels.size() > 0) || (has(self.labelSelector.matchExpressions) && self.labelSelector.matchExpressions.size() > 0)",message="the label selector has no term, and no namespace is named, so that it selects nothing: give it a label whose value is not null, or leave it out",fieldPath=".labelSelector"
type NamespaceSelector struct {
	// Names are exact names; empty is any.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Names []string `json:"names,omitempty"`
	// LabelSelector selects by the namespace's labels. Whoever may change those
	// decides whom the role is for.
	//
	// +optional
	LabelSelector *LabelSelector `json:"labelSelector,omitempty"`
}

// LabelSelector is Kubernetes' label selector: all of its terms must hold. One without
// terms may be what is left where a template has made values null: it is as if it were
// left out only where namespaces are named.
//
// +kubebuilder:object:generate=false
type LabelSelector struct {
	// MatchLabels are pairs that must be there. An empty value is a value: the
	// label must be there, and empty. Null is none, and refused.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.all(k, dyn(self[k]) != null)",message="the value of a label is null: write a value, \"\" for the empty one, or leave the label out"
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') && k.size() <= 317)",message="a key is no label key: at most 63 letters, digits and -_. with a letter or digit at both ends, after an optional DNS name and slash"
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`
	// MatchExpressions are further terms.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// DeepCopyInto copies the receiver into out. It is written by hand: the generator
// cannot copy a map of LabelValue.
func (in *LabelSelector) DeepCopyInto(out *LabelSelector) {
	out.MatchLabels = maps.Clone(in.MatchLabels)
	out.MatchExpressions = slices.Clone(in.MatchExpressions)
	for i := range out.MatchExpressions {
		in.MatchExpressions[i].DeepCopyInto(&out.MatchExpressions[i])
	}
}

// DeepCopy is a copy that shares nothing with the receiver; nil of nil.
func (in *LabelSelector) DeepCopy() *LabelSelector {
	if in == nil {
		return nil
	}
	out := new(LabelSelector)
	in.DeepCopyInto(out)
	return out
}

// LabelValue is the value of a label, which may be empty: a string with rules. It
// is an alias so that MatchLabels is a plain map of strings.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue = string

// LabelRequirement is a term of a label selector.
//
// +kubebuilder:validation:XValidation:rule="self.operator in ['In', 'NotIn'] ? has(self.values) && self.values.size() > 0 : !has(self.values) || self.values.size() == 0",message="In and NotIn need values, Exists and DoesNotExist have none",fieldPath=".values"
type LabelRequirement struct {
	// Key is the label's key.
	//
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist.
	//
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`
	// Values are those of In and NotIn.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Values []string `json:"values,omitempty"`
}

// ResourceType is either a group's version with a kind in it, or any parts of
// group, version and kind. A part that is empty or left out is any. Parts are
// compared exactly; there are no patterns.
//
// +kubebuilder:validation:XValidation:rule="[?self.?apiVersion, ?self.?group, ?self.?version, ?self.?kind].exists(part, part.size() > 0)",message="at least one of apiVersion, group, version and kind must not be empty",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.apiVersion) || !(has(self.group) || has(self.version))",message="apiVersion is group and version in one: leave out group and version",reason=FieldValueForbidden,fieldPath=".apiVersion"
type ResourceType struct {
	// APIVersion is GROUP/VERSION. It excludes group and version.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[a-z]([-a-z0-9]*[a-z0-9])?$`
	APIVersion string `json:"apiVersion,omitempty"`
	// Group is such as s3.services.k8s.aws.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9.]*$`
	Group string `json:"group,omitempty"`
	// Version is such as v1alpha1.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9]*$`
	Version string `json:"version,omitempty"`
	// Kind is such as Bucket.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9]*$`
	Kind string `json:"kind,omitempty"`
}
