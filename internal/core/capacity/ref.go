package capacity

import "strings"

const (
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
	controlPlaneGroup   = "controlplane.cluster.x-k8s.io"
	templateKind        = "AWSMachineTemplate"
)

// Ref is a reference in either of Cluster API's forms: v1beta1 says APIVersion
// and perhaps Namespace, v1beta2 says APIGroup.
type Ref struct {
	APIVersion string `json:"apiVersion,omitempty"`
	APIGroup   string `json:"apiGroup,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
}

// Group is the API group of the reference.
func (r Ref) Group() string {
	if r.APIGroup != "" {
		return r.APIGroup
	}
	group, _, found := strings.Cut(r.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// isForeign says that a reference leads out of a namespace. Such ones are never
// followed: they would show their author what only the controller may read.
func (r Ref) isForeign(namespace string) bool {
	return r.Namespace != "" && r.Namespace != namespace
}

func (r Ref) is(group, kind string) bool { return r.Kind == kind && r.Group() == group }

// saysRegion says that the object has spec.region.
func (r Ref) saysRegion() bool {
	return r.is(infrastructureGroup, "AWSCluster") ||
		r.is(controlPlaneGroup, "AWSManagedControlPlane") ||
		r.is(controlPlaneGroup, "ROSAControlPlane")
}

// isAWS says that the object belongs to the AWS provider.
func (r Ref) isAWS() bool {
	return r.saysRegion() ||
		r.is(infrastructureGroup, "AWSManagedCluster") || r.is(infrastructureGroup, "ROSACluster")
}

// TemplateRef names the AWSMachineTemplate to read, in the object's own
// namespace; false if there is none to read.
func TemplateRef(o Object) (Ref, bool) {
	ref := o.Infrastructure
	if o.Kind == MachineAPIMachineSet || !ref.is(infrastructureGroup, templateKind) ||
		ref.Name == "" || ref.isForeign(o.Namespace) {
		return Ref{}, false
	}
	return ref, true
}

// RegionRef names the object whose spec.region is the cluster's, in the
// namespace of the cluster and of the object; false if there is none to read.
func RegionRef(o Object, cluster *Cluster) (Ref, bool) {
	if cluster == nil {
		return Ref{}, false
	}
	for _, ref := range []Ref{cluster.Infrastructure, cluster.ControlPlane} {
		if ref.saysRegion() && ref.Name != "" && !ref.isForeign(o.Namespace) {
			return ref, true
		}
	}
	return Ref{}, false
}
