package podpatch

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// Pod is what matters of a pod. It shares the memory of the text it was read
// from.
type Pod struct {
	// ServiceAccountName is empty if the pod names none, which the API server's
	// own admission prevents.
	ServiceAccountName string
	// Metadata, Labels and Annotations are objects or empty.
	Metadata, Labels, Annotations raw.Value
	// Windows says that the pod asks for a node with Windows.
	Windows bool

	volumes, containers, initContainers, securityContext raw.Value
}

// Read finds the parts of a pod. The error says what of it is not as the API has
// it: such an object is no pod.
func Read(object raw.Value) (Pod, error) {
	var pod Pod
	var spec raw.Value
	for c := object.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "metadata":
			pod.Metadata = c.Value()
		case "spec":
			spec = c.Value()
		}
	}
	if spec.Kind() != raw.Object {
		return Pod{}, fmt.Errorf("the object's spec is %s, expected a pod's", spec.Kind())
	}
	if err := pod.readMetadata(); err != nil {
		return Pod{}, err
	}
	err := pod.readSpec(spec)
	return pod, err
}

func (p *Pod) readMetadata() error {
	if err := expect("metadata", p.Metadata, raw.Object); err != nil {
		return err
	}
	for c := p.Metadata.Walk(); c.Next(); {
		var err error
		switch string(c.Name()) {
		case "labels":
			p.Labels, err = c.Value(), expect("metadata.labels", c.Value(), raw.Object)
		case "annotations":
			p.Annotations, err = c.Value(), expect("metadata.annotations", c.Value(), raw.Object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Pod) readSpec(spec raw.Value) error {
	for c := spec.Walk(); c.Next(); {
		value := c.Value()
		var err error
		switch string(c.Name()) {
		case "serviceAccountName":
			p.ServiceAccountName, err = value.Text(), expect("spec.serviceAccountName", value, raw.String)
		case "volumes":
			p.volumes, err = value, expect("spec.volumes", value, raw.Array)
		case "containers":
			p.containers, err = value, expect("spec.containers", value, raw.Array)
		case "initContainers":
			p.initContainers, err = value, expect("spec.initContainers", value, raw.Array)
		case "securityContext":
			p.securityContext, err = value, expect("spec.securityContext", value, raw.Object)
		case "nodeSelector":
			p.Windows = p.Windows || selectsWindows(value)
		case "os":
			p.Windows = p.Windows || value.Get("name").Is("windows")
		}
		if err != nil {
			return err
		}
	}
	for c := p.volumes.Walk(); c.Next(); {
		if err := expect("spec.volumes[]", c.Value(), raw.Object); err != nil {
			return err
		}
	}
	return nil
}

// Containers is how many the pod has, with those that initialise it.
func (p Pod) Containers() (count int) {
	for _, list := range []raw.Value{p.containers, p.initContainers} {
		for c := list.Walk(); c.Next(); {
			count++
		}
	}
	return count
}

// HasToken says that the pod has a volume of that name, or of one that it got in its
// place, with a ServiceAccount's token.
func (p Pod) HasToken(name string) bool {
	for c := p.volumes.Walk(); c.Next(); {
		base, _, _ := strings.Cut(c.Value().Get("name").Text(), spareName)
		if base != name {
			continue
		}
		for source := c.Value().Get("projected").Get("sources").Walk(); source.Next(); {
			if !source.Value().Get("serviceAccountToken").Empty() {
				return true
			}
		}
	}
	return false
}

// NonRoot says that the pod, or a container of it, asks not to run as root.
func (p Pod) NonRoot() bool {
	if nonRoot(p.securityContext) {
		return true
	}
	for _, list := range []raw.Value{p.containers, p.initContainers} {
		for c := list.Walk(); c.Next(); {
			if nonRoot(c.Value().Get("securityContext")) {
				return true
			}
		}
	}
	return false
}

func nonRoot(securityContext raw.Value) bool {
	user := securityContext.Get("runAsUser")
	return user.Kind() == raw.Number && string(user.Bytes()) != "0" || string(securityContext.Get("runAsNonRoot").Bytes()) == "true"
}

// selectsWindows says that a node selector asks for Windows nodes, by the label
// of today or the one before.
func selectsWindows(selector raw.Value) bool {
	for c := selector.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "kubernetes.io/os", "beta.kubernetes.io/os":
			if c.Value().Is("windows") {
				return true
			}
		}
	}
	return false
}

// expect says what is wrong with a field that is there and is not of its kind.
func expect(field string, value raw.Value, want raw.Kind) error {
	if value.Empty() || value.Kind() == want {
		return nil
	}
	return fmt.Errorf("%s is %s, expected %s", field, value.Kind(), want)
}
