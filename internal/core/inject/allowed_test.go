package inject_test

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// ourVolumes are the names of the volumes that the injector may add.
var ourVolumes = []string{inject.VolumeName, inject.ProfilesVolumeName, inject.Defaults().ContainerCredentials.VolumeName}

// withoutOurs takes from a patched pod what the injector may have added: a label
// and an annotation, the first volumes, the last entries of environment and
// mounts, and the group of files, each only under our names. What it leaves is to
// be the pod before.
func withoutOurs(before, after any) any {
	restoreEntry(before, after, "labels", "eks.amazonaws.com/pod-identity")
	restoreEntry(before, after, "annotations", "eks.amazonaws.com/aws-config")
	restoreEmpty(before, after, "metadata")
	old, isOld := member(before, "spec").(map[string]any)
	spec, isMap := member(after, "spec").(map[string]any)
	if !isOld || !isMap {
		return after
	}
	restoreMember(old["securityContext"], spec["securityContext"], "fsGroup")
	restoreEmpty(old, spec, "securityContext")
	volumes, _ := spec["volumes"].([]any)
	for len(volumes) > length(old["volumes"]) && slices.Contains(ourVolumes, name(volumes[0])) {
		volumes = volumes[1:]
		restore(old, spec, "volumes", volumes)
	}
	for _, list := range []string{"containers", "initContainers"} {
		oldContainers, _ := old[list].([]any)
		containers, _ := spec[list].([]any)
		for i := range min(len(oldContainers), len(containers)) {
			was, _ := oldContainers[i].(map[string]any)
			is, _ := containers[i].(map[string]any)
			restoreTail(was, is, "env", func(name string) bool {
				return strings.HasPrefix(name, "AWS_") || name == "TABARD_POD_NAME"
			})
			restoreTail(was, is, "volumeMounts", func(name string) bool { return slices.Contains(ourVolumes, name) })
		}
	}
	return after
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
