package capacity

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// Groups of the watched kinds.
const (
	machineAPIGroup = "machine.openshift.io"
	configGroup     = "config.openshift.io"
	clusterGroup    = "cluster.x-k8s.io"
	providerGroup   = "infrastructure.cluster.x-k8s.io"
	controlGroup    = "controlplane.cluster.x-k8s.io"
)

// kind is a kind that is watched.
type kind struct {
	schema.GroupKind
	// resource is the plural in URLs.
	resource string
	// versions are those that can be read, best first.
	versions []string
	// annotated is what the decision calls it; empty for kinds that are only read.
	annotated core.Kind
	// only is the name of the one object that counts, whose kind has no namespace;
	// empty for all.
	only string
}

var (
	machineAPISet = &kind{
		GroupKind: schema.GroupKind{Group: machineAPIGroup, Kind: "MachineSet"}, resource: "machinesets",
		versions: []string{"v1beta1"}, annotated: core.MachineAPIMachineSet,
	}
	machineDeployment = &kind{
		GroupKind: schema.GroupKind{Group: clusterGroup, Kind: "MachineDeployment"}, resource: "machinedeployments",
		versions: []string{"v1beta2", "v1beta1"}, annotated: core.MachineDeployment,
	}
	machineSet = &kind{
		GroupKind: schema.GroupKind{Group: clusterGroup, Kind: "MachineSet"}, resource: "machinesets",
		versions: []string{"v1beta2", "v1beta1"}, annotated: core.MachineSet,
	}
	infrastructure = &kind{
		GroupKind: schema.GroupKind{Group: configGroup, Kind: "Infrastructure"}, resource: "infrastructures",
		versions: []string{"v1"}, only: "cluster",
	}
	cluster = &kind{
		GroupKind: schema.GroupKind{Group: clusterGroup, Kind: "Cluster"}, resource: "clusters",
		versions: []string{"v1beta2", "v1beta1"},
	}
	machineTemplate = &kind{
		GroupKind: schema.GroupKind{Group: providerGroup, Kind: "AWSMachineTemplate"}, resource: "awsmachinetemplates",
		versions: []string{"v1beta2", "v1beta1"},
	}
	// regional are the kinds that say a cluster's region.
	regional = []*kind{
		{
			GroupKind: schema.GroupKind{Group: providerGroup, Kind: "AWSCluster"}, resource: "awsclusters",
			versions: []string{"v1beta2", "v1beta1"},
		}, {
			GroupKind: schema.GroupKind{Group: controlGroup, Kind: "AWSManagedControlPlane"}, resource: "awsmanagedcontrolplanes",
			versions: []string{"v1beta2", "v1beta1"},
		}, {
			GroupKind: schema.GroupKind{Group: controlGroup, Kind: "ROSAControlPlane"}, resource: "rosacontrolplanes",
			versions: []string{"v1beta2"},
		},
	}
	// kinds are all of them.
	kinds = append([]*kind{machineAPISet, machineDeployment, machineSet, infrastructure, cluster, machineTemplate}, regional...)
)

// kindOf is the kind that a decision's kind is.
func kindOf(annotated core.Kind) *kind {
	switch annotated {
	case core.MachineAPIMachineSet:
		return machineAPISet
	case core.MachineDeployment:
		return machineDeployment
	default:
		return machineSet
	}
}

// served says in which version each kind is watched. Kinds that are missing are
// not: the cluster does not have them, or we may not read them.
type served struct {
	versions map[*kind]string
	// refused are the kinds that may not be listed, whether there are any or not.
	refused []string
	// migration says that machines can move between the two machine APIs.
	migration bool
}

func (s served) equal(other served) bool {
	return s.migration == other.migration && maps.Equal(s.versions, other.versions) && slices.Equal(s.refused, other.refused)
}

func (s served) has(k *kind) bool { return s.versions[k] != "" }

// names are the kinds, for people.
func (s served) names() []string {
	out := make([]string, 0, len(s.versions))
	for k, version := range s.versions {
		out = append(out, k.WithVersion(version).String())
	}
	slices.Sort(out)
	return out
}

// isEmpty says that there is nothing to annotate.
func (s served) isEmpty() bool {
	return !s.has(machineAPISet) && !s.has(machineDeployment) && !s.has(machineSet)
}

func (s served) of(k *kind) schema.GroupVersionKind { return k.WithVersion(s.versions[k]) }

// scheme knows one kind alone: all kinds share one Go type, so each has a cache
// with a scheme of its own.
func scheme(gvk schema.GroupVersionKind) *runtime.Scheme {
	out := runtime.NewScheme()
	out.AddKnownTypeWithName(gvk, &object{})
	out.AddKnownTypeWithName(gvk.GroupVersion().WithKind(gvk.Kind+"List"), &objectList{})
	metav1.AddToGroupVersion(out, gvk.GroupVersion())
	return out
}
