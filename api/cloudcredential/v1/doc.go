// Package v1 holds the kind CredentialsRequest of OpenShift's group, as its Cloud
// Credential Operator defines it, with spec.storage besides. Objects that were stored by
// that operator are valid and mean what they meant.
//
// +kubebuilder:object:generate=true
// +groupName=cloudcredential.openshift.io
package v1
