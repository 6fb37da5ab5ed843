package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/manifest"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

// rights is the ClusterRole that reading a cluster needs.
const rights = `  apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: tabard-migrate-carm}
  rules:
  - {apiGroups: [""], resources: [namespaces], verbs: [list]}
  - {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [list]}
  - {apiGroups: [services.k8s.aws], resources: [iamroleselectors], verbs: [list]}
  - {apiGroups: [s3.services.k8s.aws, ec2.services.k8s.aws], resources: ["*"], verbs: [list]}
  # Or a Role in the namespaces of the config maps.
  - {apiGroups: [""], resources: [configmaps], resourceNames: [ack-role-account-map, ack-role-team-map], verbs: [get]}
  # To find the controllers; not with --controllers-file or --controller.
  - {apiGroups: [apps], resources: [deployments], verbs: [list]}
  # To find the account that they run in; not with --account.
  - {apiGroups: [""], resources: [serviceaccounts], verbs: [get]}
`

// What is read beside ACK's kinds.
var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	deployments     = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	definitions     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	selectors       = schema.GroupVersionResource{Group: "services.k8s.aws", Version: "v1alpha1", Resource: "iamroleselectors"}
)

// cluster is a cluster that is read. It is never written.
type cluster struct {
	client dynamic.Interface
	// groups are those to read beside ACK's own.
	groups []string
	// findControllers says that Deployments are read, too.
	findControllers bool
}

func (c *cluster) objects(ctx context.Context) ([]unstructured.Unstructured, error) {
	all, err := c.list(ctx, namespaces)
	if err != nil {
		return nil, err
	}
	kinds, err := c.list(ctx, definitions)
	if err != nil {
		return nil, err
	}
	all = append(all, kinds...)
	for i := range kinds {
		resource, wanted := c.served(&kinds[i])
		if !wanted {
			continue
		}
		found, err := c.list(ctx, resource)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if !c.findControllers {
		return all, nil
	}
	found, err := c.controllers(ctx)
	return append(all, found...), err
}

// served is the resource to list for a definition: in the version that is stored,
// if it is served.
func (c *cluster) served(definition *unstructured.Unstructured) (schema.GroupVersionResource, bool) {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	if (schema.GroupResource{Group: group, Resource: plural}) == selectors.GroupResource() {
		return selectors, true
	}
	if !strings.HasSuffix(group, groupSuffix) && !slices.Contains(c.groups, group) {
		return schema.GroupVersionResource{}, false
	}
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	chosen := ""
	for _, each := range versions {
		version, ok := each.(map[string]any)
		if name, text := version["name"].(string); ok && text && version["served"] == true && (chosen == "" || version["storage"] == true) {
			chosen = name
		}
	}
	return schema.GroupVersionResource{Group: group, Version: chosen, Resource: plural}, chosen != ""
}

// controllers are the Deployments of ACK's controllers, with their ServiceAccounts
// where those may be read.
func (c *cluster) controllers(ctx context.Context) ([]unstructured.Unstructured, error) {
	candidates, err := c.list(ctx, deployments)
	if err != nil {
		return nil, fmt.Errorf("%w; describe the controllers with --controllers-file if you may not read Deployments", err)
	}
	var all []unstructured.Unstructured
	seen := map[string]bool{}
	for i := range candidates {
		d, container, _, err := controllerContainer(&candidates[i])
		if err != nil {
			return nil, err
		}
		if container == nil {
			continue
		}
		all = append(all, candidates[i])
		name := d.Spec.Template.Spec.ServiceAccountName
		if name == "" {
			name = "default"
		}
		if seen[d.Namespace+"/"+name] {
			continue
		}
		seen[d.Namespace+"/"+name] = true
		account, err := c.client.Resource(serviceAccounts).Namespace(d.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			all = append(all, *account)
		case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	return all, nil
}

func (c *cluster) configMaps(ctx context.Context, systemNamespaces []string) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for _, namespace := range systemNamespaces {
		for _, name := range []string{carm.AccountMap, carm.TeamMap} {
			one, err := c.client.Resource(configMaps).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
			switch {
			case err == nil:
				all = append(all, *one)
			case !apierrors.IsNotFound(err):
				return nil, fmt.Errorf("read the config map %s/%s: %w", namespace, name, err)
			}
		}
	}
	return all, nil
}

// list reads all objects of a resource.
func (c *cluster) list(ctx context.Context, resource schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	all, err := manifest.List(ctx, c.client.Resource(resource))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", resource.GroupResource(), err)
	}
	return all, nil
}
