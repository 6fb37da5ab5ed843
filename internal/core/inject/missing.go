package inject

import (
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// sources are the variables by which a container has an identity of its own.
var sources = append([]string{
	roleVariable, uriVariable, containerTokenVariable, configFileVariable,
}, beforeContainer...)

// RoleAnnotation is the annotation by which a ServiceAccount names its role.
func (in *Injector) RoleAnnotation() string { return in.names.roleARN }

// ProfilesAnnotation is the annotation by which a pod names more roles.
func (in *Injector) ProfilesAnnotation() string { return in.names.roleProfiles }

// VolumeNames are the volumes that are injected. A pod that has one has been asked
// about when it was created.
func (in *Injector) VolumeNames() []string {
	return []string{in.webIdentity.mount.Volume, in.profiles.mount.Volume, in.containerCredential.mount.Volume}
}

// Missing are the containers of a pod that are without the identity which Inject
// would give them, by their names: those that are selected and have none of their
// own. A pod with one of VolumeNames misses nothing, whatever else has changed
// since it was injected. Only the names of volumes, containers and variables
// matter, and the pod's annotations. The error says what of the pod is not as the
// API has it.
func (in *Injector) Missing(pod Pod, subject Subject) ([]string, error) {
	for _, name := range in.VolumeNames() {
		if pod.HasVolume(name) {
			return nil, nil
		}
	}
	var unheard podpatch.Warnings
	found, _ := in.choose(pod, subject, &unheard)
	plan := in.draft(pod, subject.Namespace, &found, &unheard)
	if plan == nil {
		return nil, nil
	}
	plan.Watch = sources
	containers, err := plan.Examine(pod)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, each := range containers {
		if !each.Watched {
			missing = append(missing, each.Name.Text())
		}
	}
	return missing, nil
}

// ReadsAnnotations says that the annotations of a ServiceAccount are not too long to
// count.
func (in *Injector) ReadsAnnotations(annotations map[string]string) bool {
	size := 0
	for name, value := range annotations {
		if strings.HasPrefix(name, in.settings.AnnotationPrefix+"/") {
			size += len(name) + len(value)
		}
	}
	return size <= MaxAnnotations
}
