// Package podpatch gives a pod what it lacks of a plan: labels, annotations,
// projected volumes, and variables and mounts for its containers. The pod is
// read as the API server sent it, in place; the answer is an RFC 6902 patch that
// touches nothing else, so that fields that this program has never heard of
// survive. Which plan a pod gets is decided elsewhere, a package for each cloud.
//
// Applying a plan twice is applying it once: an API server may ask again after
// other webhooks have changed the pod.
package podpatch

import "github.com/tabard-dev/tabard/internal/core/inject/raw"

// Plan is what a pod is to have.
type Plan struct {
	// Labels and Annotations are set, whatever is there under their names.
	Labels, Annotations []Entry
	// Volumes come before those of the pod, in their order. A pod keeps the one that
	// it has under the same name if that brings the same files; if it is another one,
	// the plan's gets another name. Reserved ones are another matter.
	Volumes []Volume
	// FSGroup is the group that volumes belong to, unless the pod names one; 0
	// for none. Windows has no such groups.
	FSGroup int64
	// Groups are the variables of each container, appended in their order.
	Groups []Group
	// Mounts are appended to those of each container that has none of their volume,
	// or has it elsewhere and is told to look here. Reserved ones are another matter.
	Mounts []Mount
	// Selection chooses the containers.
	Selection Selection
	// Watch are names of variables of which Examine tells whether one is there.
	Watch []string
	// AsIs says that the pod runs already: what it lacks is looked for, and it will
	// not be given any of it.
	AsIs bool

	// windows says that paths are those of Windows.
	windows bool
	// byName are the volumes of the pod, once one was looked for.
	byName map[string]raw.Value
	// unselected is the name of the first container that is not selected, absent if all
	// are.
	unselected raw.Value
}

// Entry is one label or annotation.
type Entry struct{ Name, Value string }

// Volume is a volume whose files Kubernetes writes: a projected one, or one of
// the downward API if all of them are fields of the pod. Without files it is an
// empty folder for the containers to write to.
type Volume struct {
	Name string
	// Mode is the mode of its files; 0 leaves it to Kubernetes.
	Mode    int32
	Sources []Source
	// Reserved says that the name is the plan's alone. A volume of the pod that
	// has it, and is any different, is replaced where it is; a new one comes
	// after those of the pod.
	Reserved bool

	// former is its name before the pod was seen to have another volume of that.
	former string
}

// Source is one file of a volume: a field of the pod, a key of a config map, a
// bundle of certificates or, with none of these, a token.
type Source struct {
	// Path is that of the file within the volume.
	Path string
	// Field is the path of a field, in the terms of the downward API.
	Field string
	// ConfigMap is the name of one in the pod's namespace, and Key is the key.
	ConfigMap, Key string
	// TrustBundle is the name of a ClusterTrustBundle.
	TrustBundle string
	// Audience and Seconds are the token's "aud" and life. Any audience will do where
	// a pod's own token is looked at for an empty one.
	Audience string
	Seconds  int64
}

// Group is variables that belong together: a container gets all of them or none.
type Group struct {
	// Names are the variables of which one that is there keeps the group away,
	// whether it has a value or takes it from somewhere.
	Names     []string
	Variables []Variable
	// Settles says that a container that has something of each such group has
	// arranged everything by itself. It is left alone, also without mounts.
	Settles bool
}

// Variable is one variable of an environment.
type Variable struct {
	Name, Value string
	// Field is the path of the field of the pod that the value is taken from;
	// empty for Value.
	Field string
}

// AddVariable plans a variable in a group of its own, so that a container gets it
// that has none of its name. An empty one is not injected, but looked for all the
// same.
func (p *Plan) AddVariable(name, value string) {
	group := Group{Names: []string{name}}
	if value != "" {
		group.Variables = []Variable{{Name: name, Value: value}}
	}
	p.Groups = append(p.Groups, group)
}

// Mount is a mount of one of the plan's volumes, read-only unless it is Writable.
type Mount struct {
	Volume, Path string
	Writable     bool
	// Reserved says that a mount of the volume that is any different is
	// replaced.
	Reserved bool
	// Variable is the one by which containers find the volume's files, empty if they
	// are of no account.
	Variable string
}

// Selection says which containers get something, by their names.
type Selection struct {
	// Skip are those that do not.
	Skip []string
	// Only are the only ones that do, if Limited.
	Only    []string
	Limited bool
}

// selects says whether a container gets something.
func (s Selection) selects(name raw.Value) bool {
	return !contains(s.Skip, name) && (!s.Limited || contains(s.Only, name))
}

func contains(names []string, name raw.Value) bool {
	for _, each := range names {
		if name.Is(each) {
			return true
		}
	}
	return false
}
