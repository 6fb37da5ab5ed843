package inject_test

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// allowed is what an injector may add to a pod. Names are ours or begin like that.
type allowed struct {
	label, annotation             string
	volumes, variables            []string
	volumePrefix, variablesPrefix string
	fsGroup                       bool
	// audience is that of the tokens, empty if it may be any.
	audience string
	// replaces says that volumes come last, and that volumes and mounts of our
	// names may be replaced.
	replaces bool
}

// What the injectors may add.
var (
	awsAllowed = allowed{
		label: "eks.amazonaws.com/pod-identity", annotation: "eks.amazonaws.com/aws-config",
		volumes:   []string{inject.VolumeName, inject.ProfilesVolumeName, inject.Defaults().ContainerCredentials.VolumeName},
		variables: []string{"TABARD_POD_NAME"}, variablesPrefix: "AWS_", fsGroup: true,
	}
	googleAllowed = allowed{
		annotation: "cloud.google.com/external-credentials-json",
		volumes:    []string{"gcp-iam-token", "external-credential-config", "gcloud-config"},
		variables:  []string{"GOOGLE_APPLICATION_CREDENTIALS"}, variablesPrefix: "CLOUDSDK_",
	}
	azureAllowed = allowed{volumePrefix: "azure-workload-identity-reserved-", variablesPrefix: "AZURE_", replaces: true}
)

func (a allowed) volume(name string) bool {
	base, _, _ := strings.Cut(name, "-tabard")
	return slices.Contains(a.volumes, base) || a.volumePrefix != "" && strings.HasPrefix(name, a.volumePrefix)
}

func (a allowed) variable(name string) bool {
	return slices.Contains(a.variables, name) || strings.HasPrefix(name, a.variablesPrefix)
}

// without takes from a patched pod what an injector may have added: a label and an
// annotation, the first or last volumes, the last entries of environment and mounts,
// and the group of files. What it leaves is to be the pod before.
func (a allowed) without(before, after any) any {
	restoreEntry(before, after, "labels", a.label)
	restoreEntry(before, after, "annotations", a.annotation)
	restoreEmpty(before, after, "metadata")
	old, isOld := member(before, "spec").(map[string]any)
	spec, isMap := member(after, "spec").(map[string]any)
	if !isOld || !isMap {
		return after
	}
	if a.fsGroup {
		restoreMember(old["securityContext"], spec["securityContext"], "fsGroup")
		restoreEmpty(old, spec, "securityContext")
	}
	a.restoreVolumes(old, spec)
	for _, list := range []string{"containers", "initContainers"} {
		oldContainers, _ := old[list].([]any)
		containers, _ := spec[list].([]any)
		for i := range min(len(oldContainers), len(containers)) {
			was, _ := oldContainers[i].(map[string]any)
			is, _ := containers[i].(map[string]any)
			restoreTail(was, is, "env", a.variable)
			if a.replaces {
				restoreReplaced(was, is, "volumeMounts", a.volume)
			}
			restoreTail(was, is, "volumeMounts", a.volume)
		}
	}
	return after
}

// restoreVolumes takes away those of ours, from where they may be.
func (a allowed) restoreVolumes(was, is map[string]any) {
	if a.replaces {
		restoreReplaced(was, is, "volumes", a.volume)
		restoreTail(was, is, "volumes", a.volume)
		return
	}
	volumes, _ := is["volumes"].([]any)
	for len(volumes) > length(was["volumes"]) && a.volume(name(volumes[0])) {
		volumes = volumes[1:]
		restore(was, is, "volumes", volumes)
	}
}

// restoreReplaced puts entries back that kept their name, if that is ours.
func restoreReplaced(was, is map[string]any, field string, ours func(string) bool) {
	before, _ := was[field].([]any)
	after, _ := is[field].([]any)
	for i := range min(len(before), len(after)) {
		if own := name(before[i]); ours(own) && own == name(after[i]) {
			after[i] = before[i]
		}
	}
}

// restoreEntry puts one label or annotation back.
func restoreEntry(before, after any, field, key string) {
	restoreMember(member(member(before, "metadata"), field), member(member(after, "metadata"), field), key)
	restoreEmpty(member(before, "metadata"), member(after, "metadata"), field)
}

// restoreMember puts one member of an object back as it was.
func restoreMember(before, after any, key string) {
	is, ok := after.(map[string]any)
	if !ok {
		return
	}
	was, _ := before.(map[string]any)
	if old, present := was[key]; present {
		is[key] = old
	} else {
		delete(is, key)
	}
}

// restoreEmpty takes away an object that is empty now and was not there, or was
// null.
func restoreEmpty(before, after any, field string) {
	is, ok := after.(map[string]any)
	if object, isObject := is[field].(map[string]any); !ok || !isObject || len(object) > 0 {
		return
	}
	restoreMember(before, after, field)
}

// restoreTail cuts what is new at the end of a list, if its names are ours.
func restoreTail(was, is map[string]any, field string, ours func(string) bool) {
	entries, ok := is[field].([]any)
	if !ok || len(entries) <= length(was[field]) {
		return
	}
	for _, entry := range entries[length(was[field]):] {
		if !ours(name(entry)) {
			return
		}
	}
	restore(was, is, field, entries[:length(was[field])])
}

// restore puts a list back as it was, also where it was absent or null.
func restore(was, is map[string]any, field string, entries []any) {
	old, present := was[field]
	switch {
	case len(entries) > length(old):
		is[field] = entries
	case !present:
		delete(is, field)
	case old == nil:
		is[field] = nil
	default:
		is[field] = entries
	}
}

func member(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

func name(value any) string {
	text, _ := member(value, "name").(string)
	return text
}

func length(value any) int {
	list, _ := value.([]any)
	return len(list)
}
