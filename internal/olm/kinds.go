// Package olm reads and writes the objects by which the Operator Lifecycle Manager (OLM, version 0)
// installs an operator. What they mean is decided in internal/core/operator. An object that may not
// be read is part of what was seen, and no error. Functions are safe for concurrent use.
package olm

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

// The versions of OLM's kinds.
const (
	apiV1alpha1 = "operators.coreos.com/v1alpha1"
	apiV1       = "operators.coreos.com/v1"
)

// Manager is the field manager of what is written.
const Manager = "tabard.operators"

// ErrNoOLM is a cluster that serves no Subscriptions.
var ErrNoOLM = errors.New("this cluster serves no Subscriptions of operators.coreos.com: the Operator Lifecycle Manager (OLM) is not installed")

// Client reaches one cluster. Of Secrets only the metadata is read.
type Client struct {
	Objects  dynamic.Interface
	Metadata metadata.Interface
	// Discovered reads the issuer that the API server's discovery document names; nil where nothing can.
	Discovered func(context.Context) (string, error)

	// seen is nil for a client that remembers nothing.
	seen memory
}

func alpha(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: resource}
}

var (
	catalogues      = alpha("catalogsources")
	subscriptions   = alpha("subscriptions")
	plans           = alpha("installplans")
	versions        = alpha("clusterserviceversions")
	groups          = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1", Resource: "operatorgroups"}
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets         = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	deployments     = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	authentications = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "authentications"}
	requests        = schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}
	events          = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
)
