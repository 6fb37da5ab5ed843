package tokenmode

import (
	"context"
	"fmt"

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

var (
	config          = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	infrastructures = config.WithResource("infrastructures")
	authentications = config.WithResource("authentications")
	credentials     = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "cloudcredentials"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// Read reads what Detect needs; it may be absent, and its kinds may be unknown
// to the server. It needs the right to get those four objects.
func Read(ctx context.Context, client dynamic.Interface) (Objects, error) {
	var objects Objects
	for _, one := range []struct {
		access dynamic.ResourceInterface
		kind   string
		name   string
		into   **unstructured.Unstructured
	}{
		{client.Resource(infrastructures), "Infrastructure", clusterName, &objects.Infrastructure},
		{client.Resource(credentials), "CloudCredential", clusterName, &objects.CloudCredential},
		{client.Resource(authentications), "Authentication", clusterName, &objects.Authentication},
		{client.Resource(configMaps).Namespace(legacyNamespace), "ConfigMap", legacyName, &objects.Legacy},
	} {
		found, err := one.access.Get(ctx, one.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return Objects{}, fmt.Errorf("the %s %q cannot be read: %w", one.kind, one.name, err)
		default:
			*one.into = found
		}
	}
	return objects, nil
}
