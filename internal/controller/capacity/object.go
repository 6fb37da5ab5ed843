package capacity

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

// object is what is read of an object of any watched kind: each kind has some of
// the fields. What is not named here is not kept in memory.
type object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   spec   `json:"spec"`
	Status status `json:"status"`
}

type spec struct {
	// ClusterName is Cluster API's MachineDeployment's and MachineSet's.
	ClusterName string `json:"clusterName"`
	// Template is theirs, the Machine API's MachineSet's, and the
	// AWSMachineTemplate's.
	Template struct {
		Spec templateSpec `json:"spec"`
	} `json:"template"`
	// Paused, InfrastructureRef and ControlPlaneRef are the Cluster's.
	Paused            bool     `json:"paused"`
	InfrastructureRef core.Ref `json:"infrastructureRef"`
	ControlPlaneRef   core.Ref `json:"controlPlaneRef"`
	// Region is that of the AWS provider's cluster and control planes.
	Region string `json:"region"`
}

type templateSpec struct {
	InfrastructureRef core.Ref `json:"infrastructureRef"`
	InstanceType      string   `json:"instanceType"`
	ProviderSpec      struct {
		Value json.RawMessage `json:"value"`
	} `json:"providerSpec"`
}

type status struct {
	// AuthoritativeAPI and Conditions are the Machine API's MachineSet's.
	AuthoritativeAPI string      `json:"authoritativeAPI"`
	Conditions       []condition `json:"conditions"`
	// Capacity and NodeInfo are the AWSMachineTemplate's.
	Capacity struct {
		CPU    scalar `json:"cpu"`
		Memory scalar `json:"memory"`
	} `json:"capacity"`
	NodeInfo struct {
		Architecture string `json:"architecture"`
	} `json:"nodeInfo"`
	// PlatformStatus is the Infrastructure's.
	PlatformStatus struct {
		Type string `json:"type"`
		AWS  struct {
			Region           string     `json:"region"`
			ServiceEndpoints []endpoint `json:"serviceEndpoints"`
		} `json:"aws"`
	} `json:"platformStatus"`
}

type endpoint struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// scalar is a text or a number, as a quantity may be either.
type scalar string

// UnmarshalJSON takes the value as it is written.
func (s *scalar) UnmarshalJSON(text []byte) error {
	*s = scalar(strings.Trim(string(text), `"`))
	return nil
}

// DeepCopyObject implements runtime.Object.
func (o *object) DeepCopyObject() runtime.Object {
	out := *o
	o.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Template.Spec.ProviderSpec.Value = slices.Clone(o.Spec.Template.Spec.ProviderSpec.Value)
	out.Status.Conditions = slices.Clone(o.Status.Conditions)
	out.Status.PlatformStatus.AWS.ServiceEndpoints = slices.Clone(o.Status.PlatformStatus.AWS.ServiceEndpoints)
	return &out
}

// objectList is a list of them.
type objectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []object `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *objectList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]object, 0, len(l.Items))
	for i := range l.Items {
		copied, _ := l.Items[i].DeepCopyObject().(*object)
		out.Items = append(out.Items, *copied)
	}
	return &out
}

// trim takes away what nobody asks for, before an object is kept: most of the
// memory would go into managed fields and the last applied configuration. Labels
// are for those that role selectors select.
func trim(isAnnotated, isSelected bool) func(any) (any, error) {
	return func(value any) (any, error) {
		o, ok := value.(*object)
		if !ok {
			return value, nil // a tombstone
		}
		if !isSelected {
			o.Labels = nil
		}
		o.ManagedFields = slices.DeleteFunc(o.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
			return !isAnnotated || len(core.OwnersOf([]metav1.ManagedFieldsEntry{entry})) == 0
		})
		for i := range o.ManagedFields {
			o.ManagedFields[i].Time = nil
		}
		o.Status.Conditions = slices.DeleteFunc(o.Status.Conditions, func(c condition) bool { return c.Type != pausedCondition })
		if raw := o.Spec.Template.Spec.ProviderSpec.Value; len(raw) > 0 {
			o.Spec.Template.Spec.ProviderSpec.Value = core.TrimProviderSpec(raw)
		}
		if !isAnnotated {
			o.Annotations = nil
		}
		delete(o.Annotations, lastApplied)
		return o, nil
	}
}

const (
	pausedCondition = "Paused"
	// lastApplied is what kubectl apply keeps on an object.
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// isNews says that an update may change a decision. Most do not: they are of
// replicas and other status.
func isNews(before, after *object) bool {
	return !reflect.DeepEqual(before.relevant(), after.relevant())
}

// relevant is all that a decision is made of.
func (o *object) relevant() any {
	return struct {
		labels      map[string]string
		annotations map[string]string
		fields      []metav1.ManagedFieldsEntry
		owners      []metav1.OwnerReference
		isDeleting  bool
		spec        spec
		status      status
	}{o.Labels, o.Annotations, o.ManagedFields, o.OwnerReferences, !o.DeletionTimestamp.IsZero(), o.Spec, o.Status}
}
