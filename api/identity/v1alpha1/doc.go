// Package v1alpha1 holds the kinds of the group identity.tabard.dev: what
// Tabard itself adds to a cluster. An OIDCIssuer publishes the cluster's token
// issuer, so that a cloud can verify the cluster's ServiceAccount tokens.
//
// +kubebuilder:object:generate=true
// +groupName=identity.tabard.dev
package v1alpha1
