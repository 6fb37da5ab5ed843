package hubaccess

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// The kinds of Open Cluster Management, in the versions in which v1.2.1 stores them.
var (
	clusterKind = schema.GroupVersionKind{Group: "cluster.open-cluster-management.io", Version: "v1", Kind: "ManagedCluster"}
	workKind    = schema.GroupVersionKind{Group: "work.open-cluster-management.io", Version: "v1", Kind: "ManifestWork"}
	addonKind   = schema.GroupVersionKind{Group: "addon.open-cluster-management.io", Version: "v1alpha1", Kind: "ManagedClusterAddOn"}
	managerKind = schema.GroupVersionKind{Group: "operator.open-cluster-management.io", Version: "v1", Kind: "ClusterManager"}
	crdKind     = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

func newObject(kind schema.GroupVersionKind) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	return out
}

func newList(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	out := &unstructured.UnstructuredList{}
	out.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return out
}

// clusterOf is a ManagedCluster in the words of the decision.
func clusterOf(o *unstructured.Unstructured) *core.Cluster {
	accepted, _, _ := unstructured.NestedBool(o.Object, "spec", "hubAcceptsClient")
	annotations := map[string]string{}
	for _, key := range []string{hub.ARNAnnotation, hub.SuffixAnnotation} {
		if value, there := o.GetAnnotations()[key]; there {
			annotations[key] = value
		}
	}
	held := false
	for _, finalizer := range o.GetFinalizers() {
		held = held || finalizer == core.Finalizer
	}
	return &core.Cluster{
		UID: o.GetUID(), Created: o.GetCreationTimestamp().Time, Accepted: accepted,
		Deleting: o.GetDeletionTimestamp() != nil, Held: held, Annotations: annotations,
	}
}

// managerOf is what ClusterManagers say that concerns AWS identity. There is one in all
// hubs that were seen; of several each driver counts.
func managerOf(items []unstructured.Unstructured) []hub.Driver {
	var out []hub.Driver
	for i := range items {
		drivers, _, _ := unstructured.NestedSlice(items[i].Object, "spec", "registrationConfiguration", "registrationDrivers")
		for _, each := range drivers {
			driver, is := each.(map[string]any)
			if !is {
				continue
			}
			authType, _, _ := unstructured.NestedString(driver, "authType")
			arn, _, _ := unstructured.NestedString(driver, "awsirsa", "hubClusterArn")
			disabled, stated, _ := unstructured.NestedBool(driver, "awsirsa", "disableManagedIam")
			out = append(out, hub.Driver{AuthType: authType, HubARN: arn, DisableManagedIAM: disabled, Stated: stated})
		}
	}
	return out
}

// isHosted says that a ClusterManager's programs run on another cluster than its hub
// (deployOption.mode Hosted).
func isHosted(manager *unstructured.Unstructured) bool {
	mode, _, _ := unstructured.NestedString(manager.Object, "spec", "deployOption", "mode")
	return mode == "Hosted"
}

// podOf is a pod in the words of the decision.
func podOf(pod *corev1.Pod) hub.Pod {
	out := hub.Pod{Name: pod.Name, Controller: pod.Labels[hub.ControllerLabel] == hub.ControllerApp}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		out.Commands = append(out.Commands, slices.Concat(container.Command, container.Args))
	}
	return out
}

// hasField says that a definition's served version has the field disableManagedIam.
func hasField(crd *unstructured.Unstructured) bool {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, each := range versions {
		version, is := each.(map[string]any)
		if !is || version["name"] != managerKind.Version || version["served"] != true {
			continue
		}
		_, there, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", "spec", "properties",
			"registrationConfiguration", "properties", "registrationDrivers", "items", "properties", "awsirsa", "properties", "disableManagedIam")
		return there
	}
	return false
}
