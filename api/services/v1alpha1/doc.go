// Package v1alpha1 holds the kind of the group services.k8s.aws that Tabard
// shares with AWS Controllers for Kubernetes: IAMRoleSelector, which says with
// which IAM role the resources of a namespace, kind or label are managed. What
// those controllers store is valid here too.
//
// +kubebuilder:object:generate=true
// +groupName=services.k8s.aws
package v1alpha1
