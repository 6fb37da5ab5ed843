package inject

import (
	"fmt"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// Pod is what matters of a pod. It shares the memory of the text it was read
// from.
type Pod struct {
	serviceAccount string
	// tokenExpiration and skipContainers are annotations, empty for none.
	tokenExpiration, skipContainers string
	volumes                         raw.Value
	hasVolume                       bool
	containers, initContainers      raw.Value
	windows                         bool
}

// ServiceAccount is the name of the pod's ServiceAccount; empty if the pod names
// none, which the API server's own admission prevents.
func (p Pod) ServiceAccount() string { return p.serviceAccount }

// Read finds the parts of a pod. The error says what of it is not as the API has
// it: such an object is no pod.
func (in *Injector) Read(object raw.Value) (Pod, error) {
	var pod Pod
	var metadata, spec raw.Value
	for c := object.Walk(); c.Next(); {
		switch string(c.Name()) {
		case "metadata":
			metadata = c.Value()
		case "spec":
			spec = c.Value()
		}
	}
	if spec.Kind() != raw.Object {
		return Pod{}, fmt.Errorf("the object's spec is %s, expected a pod's", spec.Kind())
	}
	in.readAnnotations(&pod, metadata.Get("annotations"))
	err := pod.readSpec(spec)
	return pod, err
}

func (in *Injector) readAnnotations(pod *Pod, annotations raw.Value) {
	for c := annotations.Walk(); c.Next(); {
		switch string(c.Name()) {
		case in.names.tokenExpiration:
			pod.tokenExpiration = c.Value().Text()
		case in.names.skipContainers:
			pod.skipContainers = c.Value().Text()
		}
	}
}

func (p *Pod) readSpec(spec raw.Value) error {
	for c := spec.Walk(); c.Next(); {
		value := c.Value()
		var err error
		switch string(c.Name()) {
		case "serviceAccountName":
			p.serviceAccount, err = value.Text(), expect("spec.serviceAccountName", value, raw.String)
		case "volumes":
			p.volumes, err = value, expect("spec.volumes", value, raw.Array)
		case "containers":
			p.containers, err = value, expect("spec.containers", value, raw.Array)
		case "initContainers":
			p.initContainers, err = value, expect("spec.initContainers", value, raw.Array)
		case "nodeSelector":
			p.windows = p.windows || selectsWindows(value)
		case "os":
			p.windows = p.windows || value.Get("name").Is("windows")
		}
		if err != nil {
			return err
		}
	}
	for c := p.volumes.Walk(); c.Next(); {
		if err := expect("spec.volumes[]", c.Value(), raw.Object); err != nil {
			return err
		}
		p.hasVolume = p.hasVolume || c.Value().Get("name").Is(VolumeName)
	}
	return nil
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
