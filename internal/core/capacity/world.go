// Package capacity decides what the autoscaler is told of a group of machines
// that has none yet: the annotations on a MachineSet or MachineDeployment that
// say what one of its nodes would have. It reads a World and returns a Plan; it
// does no I/O and asks no clock.
//
// The shell observes in turns, because what it must read depends on what it has
// read: TemplateRef and RegionRef name the objects, Ask the instance type.
// Then Decide has all it needs.
package capacity

import (
	"time"

	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// World is everything that one pass has observed. What is absent from the
// cluster is nil or empty here; what could not be read ends the pass before.
type World struct {
	Options Options
	// Object is the MachineSet or MachineDeployment.
	Object Object
	// Platform is what the cluster's Infrastructure says; the zero value where
	// there is none.
	Platform Platform
	// DefaultRegion is AWS_REGION or AWS_DEFAULT_REGION of the process.
	DefaultRegion string
	// Template is the object that TemplateRef names, nil if it does not exist.
	Template *Template
	// Cluster is the Cluster that the object names, nil if it does not exist.
	Cluster *Cluster
	// ClusterRegion is spec.region of the object that RegionRef names, empty if
	// it does not exist or says none.
	ClusterRegion string
	// Credentials is who would ask AWS.
	Credentials Credentials
	// Answer is AWS's answer to Ask, Fault why there is none.
	Answer instancetype.Answer
	Fault  *fault.Fault
	// Memory is the Memory of the object's last plan.
	Memory Memory
}

// Options are the same for all objects.
type Options struct {
	// Profile chooses the annotations; the zero value is ByKind.
	Profile Profile
	// Manager is the field manager of our writes. The zero value is
	// DefaultManager.
	Manager string
	// Predecessors are managers whose updates of our annotations are taken for
	// our own: programs that did this before.
	Predecessors []string
	// OnlyAutoscaled leaves objects alone that have none of the annotations by
	// which the autoscaler is told their smallest and largest size. What was
	// written before stays: it does no harm, and is right again with the next
	// size.
	OnlyAutoscaled bool
	// MemoryReserve is how much of the memory is not written, in percent, for
	// what the kernel and the kubelet keep; 0 to 50.
	MemoryReserve int64
	// DeferToTemplate leaves out those of upstream's quantities that the
	// template's status has: the autoscaler prefers annotations.
	DeferToTemplate bool
	// Migration says that the cluster can move machines between the two machine
	// APIs (OpenShift's feature gate MachineAPIMigration).
	Migration bool
	// UnknownRecheck is when to ask again for a type or a region that AWS does
	// not know; the zero value is 30 minutes.
	UnknownRecheck time.Duration
}

// DefaultManager is the name of the program that this one takes the place of.
const DefaultManager = "capa-annotator"

func (o Options) manager() string {
	if o.Manager == "" {
		return DefaultManager
	}
	return o.Manager
}

func (o Options) recheck() time.Duration {
	if o.UnknownRecheck <= 0 {
		return 30 * time.Minute
	}
	return o.UnknownRecheck
}

// Profile chooses which annotations are written.
type Profile string

const (
	// ByKind writes the Machine API's keys to all objects, and to those of
	// Cluster API also the keys that only upstream's autoscaler reads.
	ByKind Profile = "auto"
	// Legacy writes the Machine API's keys alone.
	Legacy Profile = "legacy"
	// Full writes all keys to all objects.
	Full Profile = "full"
)

// Profiles lists them all.
func Profiles() []Profile { return []Profile{ByKind, Legacy, Full} }

// Kind is what sort of object is annotated.
type Kind string

// The kinds.
const (
	// MachineAPIMachineSet is OpenShift's MachineSet (machine.openshift.io).
	MachineAPIMachineSet Kind = "MachineAPIMachineSet"
	// MachineDeployment is Cluster API's.
	MachineDeployment Kind = "MachineDeployment"
	// MachineSet is Cluster API's (cluster.x-k8s.io). It counts only if no
	// MachineDeployment owns it.
	MachineSet Kind = "MachineSet"
)

// Component is the source of the kind's events.
func (k Kind) Component() string {
	if k == MachineAPIMachineSet {
		return "machineset-controller"
	}
	return "machinedeployment-controller"
}

// Noun is the kind in messages.
func (k Kind) Noun() string {
	if k == MachineDeployment {
		return "machineDeployment"
	}
	return "machineSet"
}

// Object is the object to annotate.
type Object struct {
	Kind            Kind
	Namespace, Name string
	// Version is the resourceVersion at which all of it was read.
	Version string
	// Deleting says that it has a deletion timestamp.
	Deleting    bool
	Annotations map[string]string
	// Owners are the owners of its annotations, as OwnersOf finds them.
	Owners map[string][]Owner

	// ProviderSpec is spec.template.spec.providerSpec.value of the Machine API,
	// empty for none.
	ProviderSpec []byte
	// Paused says that its condition Paused is True. Only the Machine API's
	// count: Cluster API pauses by annotation and Cluster.
	Paused bool
	// Authority is status.authoritativeAPI.
	Authority string

	// HasDeployment says that a MachineDeployment of Cluster API is among its
	// owner references.
	HasDeployment bool
	// ClusterName is spec.clusterName of Cluster API.
	ClusterName string
	// Infrastructure is spec.template.spec.infrastructureRef of Cluster API.
	Infrastructure Ref
}

// Platform is status.platformStatus of OpenShift's Infrastructure "cluster".
type Platform struct {
	// Type is such as "AWS"; empty where there is no Infrastructure.
	Type string
	// Region is aws.region.
	Region string
}

// Template is what is read of an AWSMachineTemplate.
type Template struct {
	// InstanceType is spec.template.spec.instanceType.
	InstanceType string
	// CPU and Memory are status.capacity, Architecture is
	// status.nodeInfo.architecture; empty where CAPA has not filled them in.
	CPU, Memory, Architecture string
}

// Cluster is what is read of Cluster API's Cluster.
type Cluster struct {
	// Paused is spec.paused.
	Paused bool
	// Infrastructure and ControlPlane are its references.
	Infrastructure, ControlPlane Ref
}

// Credentials is who would ask AWS, decided before anybody does.
type Credentials struct {
	// Method names the source for people, such as "IRSA with role ARN" or
	// "Secret NAMESPACE/NAME". It holds no secret.
	Method string
	// Assumed says that it is the role of an IAMRoleSelector.
	Assumed bool
	// Missing says that neither a web identity nor a Secret is configured.
	Missing bool
	// Problem is what is wrong with the configuration, to be shown as it is;
	// empty for nothing.
	Problem string
}

// Memory is what the shell keeps of an object between two passes. Losing it
// costs a repeated event, and a correction of what comes back. It is comparable.
type Memory struct {
	// Told is the last warning.
	Told Event
	// Corrected is the stamp of values of others that were corrected last, 0 for
	// none.
	Corrected uint64
	// Failures counts the passes in a row that are to be tried again soon.
	Failures int
}
