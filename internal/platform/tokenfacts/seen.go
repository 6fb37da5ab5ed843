package tokenfacts

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// InfrastructureName is the name by which what is made for the cluster in a cloud is known; empty where
// it could not be read (https://github.com/openshift/api, config/v1, InfrastructureStatus).
func (s Seen) InfrastructureName() string {
	return text(s.objects.Infrastructure, "status", "infrastructureName")
}

// Issuer is what the cluster sets as the issuer of its tokens, also where that is no URL with https;
// empty where nothing is set or could be read.
func (s Seen) Issuer() string {
	return text(s.objects.Authentication, "spec", "serviceAccountIssuer")
}

// Partition is that of the cluster's region in AWS; empty where that is not known.
func (s Seen) Partition() string {
	region := text(s.objects.Infrastructure, "status", "platformStatus", "aws", "region")
	if region == "" {
		return ""
	}
	return identity.Partition(region)
}

// Forbidden are the rights that were missing, such as: get infrastructures.config.openshift.io "cluster".
// Decide names those that an answer needs.
func (s Seen) Forbidden() []string { return slices.Sorted(maps.Values(s.forbidden)) }

// text is a field of an object for people, empty if it is absent or no text.
func text(object *unstructured.Unstructured, path ...string) string {
	if object == nil {
		return ""
	}
	found, _, _ := unstructured.NestedString(object.Object, path...)
	return found
}
