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

// TokenFiles are where the web identity token is, as containers on Linux and on Windows
// are told.
func (in *Injector) TokenFiles() []string {
	return []string{in.webIdentity.unix, in.webIdentity.windows}
}

// asked says that the webhook was asked about a pod when it was created: it has a
// token in one of the volumes that are injected.
func (in *Injector) asked(pod Pod) bool {
	return pod.HasToken(in.webIdentity.mount.Volume) || pod.HasToken(in.profiles.mount.Volume) || pod.HasToken(in.containerCredential.mount.Volume)
}

// Lack is what the containers of a pod lack, by their names.
type Lack struct {
	// Identity are those that have none: nothing was injected for them.
	Identity []string
	// Token are those that are told where their token is, and do not find it.
	Token []string
}

// Missing are the containers of a pod that are without the identity which Inject
// would give them: those that are selected and have none of their own, nor its token.
// A pod that the webhook was asked about has all identities that it was to have,
// whatever else has changed since; its tokens are looked for all the same, and any
// audience of theirs will do. Only the names of containers and variables matter, the
// value of a variable that names TokenFiles, volumes with tokens, the mounts of
// containers that are told of one, and the pod's annotations. The error says what of
// the pod is not as the API has it.
func (in *Injector) Missing(pod Pod, subject Subject) (Lack, error) {
	var unheard podpatch.Warnings
	found, _ := in.choose(pod, subject, &unheard)
	found.audience = ""
	plan := in.draft(pod, subject.Namespace, &found, &unheard)
	if plan == nil {
		return Lack{}, nil
	}
	plan.Watch, plan.AsIs = sources, true
	containers, err := plan.Examine(pod)
	if err != nil {
		return Lack{}, err
	}
	var lack Lack
	asked := in.asked(pod)
	for _, each := range containers {
		switch {
		case !each.Watched && !asked:
			lack.Identity = append(lack.Identity, each.Name.Text())
		case each.Watched && each.Lost:
			lack.Token = append(lack.Token, each.Name.Text())
		}
	}
	return lack, nil
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
