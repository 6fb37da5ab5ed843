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
	// Volumes come before those of the pod, in their order. A pod keeps the one
	// that it has under the same name, whatever its kind.
	Volumes []Volume
	// FSGroup is the group that volumes belong to, unless the pod names one; 0
	// for none. Windows has no such groups.
	FSGroup int64
	// Groups are the variables of each container, appended in their order.
	Groups []Group
	// Mounts are appended to those of each container.
	Mounts []Mount
	// Selection chooses the containers.
	Selection Selection
	// Watch are names of variables of which Examine tells whether one is there.
	Watch []string
}

// Entry is one label or annotation.
type Entry struct{ Name, Value string }

// Volume is a projected volume.
type Volume struct {
	Name string
	// Mode is the mode of its files; 0 leaves it to Kubernetes.
	Mode    int32
	Sources []Source
}

// Source is one file of a projected volume: a token, or a field of the pod.
type Source struct {
	// Path is that of the file within the volume.
	Path string
	// Field is the path of a field, in the terms of the downward API; empty for
	// a token.
	Field string
	// Audience and Seconds are the token's "aud" and life.
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

// Mount is a read-only mount of one of the plan's volumes.
type Mount struct{ Volume, Path string }

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
