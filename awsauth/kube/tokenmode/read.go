package tokenmode

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const (
	clusterName     = "cluster"
	legacyNamespace = "openshift-cloud-credential-operator"
	legacyName      = "cloud-credential-operator-config"
)

var config = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}

// The objects that Objects holds.
var (
	// Infrastructure is that of Objects.Infrastructure.
	Infrastructure = Object{"Infrastructure", config.WithResource("infrastructures"), "", clusterName}
	// CloudCredential is that of Objects.CloudCredential.
	CloudCredential = Object{"CloudCredential", schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "cloudcredentials"}, "", clusterName}
	// Authentication is that of Objects.Authentication.
	Authentication = Object{"Authentication", config.WithResource("authentications"), "", clusterName}
	// Legacy is the ConfigMap of Objects.Legacy.
	Legacy = Object{"ConfigMap", schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, legacyNamespace, legacyName}
)

// Object is the place of an object in a cluster.
type Object struct {
	Kind     string
	Resource schema.GroupVersionResource
	// Namespace is empty for an object of the whole cluster.
	Namespace, Name string
}

// String is the object for a person.
func (o Object) String() string {
	if o.Namespace != "" {
		return o.Kind + " " + o.Namespace + "/" + o.Name
	}
	return fmt.Sprintf("%s %q", o.Kind, o.Name)
}

// ForbiddenError says which objects the caller may not read.
type ForbiddenError struct {
	// Objects are in the order of the fields of the type Objects.
	Objects []Object
	errs    []error
}

// Error has a part for each object.
func (f *ForbiddenError) Error() string {
	var all []string
	for _, err := range f.errs {
		all = append(all, err.Error())
	}
	return strings.Join(all, "; ")
}

// Unwrap are the refusals of the API server.
func (f *ForbiddenError) Unwrap() []error { return f.errs }

// Read reads what Detect needs; it may be absent, and its kinds may be unknown
// to the server. It needs the right to get those four objects.
//
// If it may not get some, the error is a *ForbiddenError, and the objects are all
// those that it may get: one that is nil may exist then, so Detect must not be
// asked unless the caller knows what the missing ones would decide. With any
// other error there are no objects.
func Read(ctx context.Context, client dynamic.Interface) (Objects, error) {
	var objects Objects
	var forbidden ForbiddenError
	for _, one := range []struct {
		object Object
		into   **unstructured.Unstructured
	}{
		{Infrastructure, &objects.Infrastructure},
		{CloudCredential, &objects.CloudCredential},
		{Authentication, &objects.Authentication},
		{Legacy, &objects.Legacy},
	} {
		var access dynamic.ResourceInterface = client.Resource(one.object.Resource)
		if one.object.Namespace != "" {
			access = client.Resource(one.object.Resource).Namespace(one.object.Namespace)
		}
		found, err := access.Get(ctx, one.object.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case apierrors.IsForbidden(err):
			forbidden.Objects = append(forbidden.Objects, one.object)
			forbidden.errs = append(forbidden.errs, unread(one.object, err))
		case err != nil:
			return Objects{}, unread(one.object, err)
		default:
			*one.into = found
		}
	}
	if len(forbidden.Objects) > 0 {
		return objects, &forbidden
	}
	return objects, nil
}

func unread(o Object, err error) error { return fmt.Errorf("the %s cannot be read: %w", o, err) }
