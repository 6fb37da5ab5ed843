package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// infrastructures are OpenShift's, of which there is one.
var infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}

const infrastructureName = "cluster"

// Infrastructure is what OpenShift knows of the AWS that a cluster runs in.
type Infrastructure struct {
	// Region is the cluster's, empty if it is not told.
	Region string
	// Endpoints are those that the cluster's administrator configured.
	Endpoints identity.Endpoints
}

// Infrastructure reads the status of the Infrastructure "cluster"; the zero
// value without error says that there is none, as outside OpenShift. What its
// spec wants and its status does not have yet does not count.
func (c *Cluster) Infrastructure(ctx context.Context) (Infrastructure, error) {
	if c.client == nil {
		return Infrastructure{}, errNoClient
	}
	if !c.isFollowed(Reference{Resource: infrastructures.Resource, Name: infrastructureName}) {
		// Only what exists is followed: a watch of a resource that the server
		// does not have would be refused for ever.
		_, err := c.client.Resource(infrastructures).Get(ctx, infrastructureName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return Infrastructure{}, nil
		}
		if err != nil {
			return Infrastructure{}, fmt.Errorf("failed to get Infrastructure %s: %w", infrastructureName, err)
		}
	}
	found, err := c.read(ctx, infrastructures, "", infrastructureName)
	switch {
	case errors.Is(err, awsauth.ErrNotFound):
		return Infrastructure{}, nil
	case err != nil:
		return Infrastructure{}, fmt.Errorf("failed to get Infrastructure %s: %w", infrastructureName, err)
	}
	return infrastructureOf(found)
}

func (c *Cluster) isFollowed(ref Reference) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.followed[ref]
	return ok
}

// infrastructureOf reads the object; of two endpoints of one service the last
// counts.
func infrastructureOf(object *unstructured.Unstructured) (Infrastructure, error) {
	at := []string{"status", "platformStatus", "aws"}
	region, _, err := unstructured.NestedString(object.Object, append(at[:3:3], "region")...)
	if err != nil {
		return Infrastructure{}, fmt.Errorf("the Infrastructure %s: %w", infrastructureName, err)
	}
	list, _, err := unstructured.NestedSlice(object.Object, append(at[:3:3], "serviceEndpoints")...)
	if err != nil {
		return Infrastructure{}, fmt.Errorf("the Infrastructure %s: %w", infrastructureName, err)
	}
	urls := map[string]string{}
	for _, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["name"].(string)
		url, _ := entry["url"].(string)
		urls[name] = url
	}
	endpoints, err := identity.NewEndpoints(urls)
	if err != nil {
		return Infrastructure{}, fmt.Errorf("the Infrastructure %s: %w", infrastructureName, err)
	}
	return Infrastructure{Region: region, Endpoints: endpoints}, nil
}
