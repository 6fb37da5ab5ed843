package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind is what kind of source a package is from.
type Kind string

const (
	// CatalogSource is a catalogue that a cluster serves with OLM v0.
	CatalogSource Kind = "CatalogSource"
	// ClusterCatalog is a catalogue that a cluster serves with OLM v1. It is in no namespace.
	ClusterCatalog Kind = "ClusterCatalog"
)

// Source is where a package is from, among the sources of one catalogue. It is zero for files:
// all packages are from what was named to the reader.
type Source struct {
	Kind Kind
	// Namespace and Name are of the object in the cluster. They are empty if it is not known.
	Namespace, Name string
	// DisplayName and Publisher are texts of whoever made the catalogue.
	DisplayName, Publisher string
}

// LeavesOut says that the source may be without packages and channels that the catalogue has,
// and says nothing of it: what is not there is unknown, not absent. OLM's package server leaves
// out a channel if it cannot read the head, and a package if it can read no head. In place of a
// default channel that it left out it names the first that it has.
func (s Source) LeavesOut() bool { return s.Kind == CatalogSource }

// String is the source for a person, harmless in a terminal. It is empty for files.
func (s Source) String() string {
	if s.Kind == "" {
		return ""
	}
	name := s.Name
	if s.Kind != ClusterCatalog {
		name = s.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s", s.Kind, Quoted(name))
}

// key tells packages apart.
type key struct {
	kind                     Kind
	namespace, source, named string
}

func (s Source) key(name string) key { return key{s.Kind, s.Namespace, s.Name, name} }

func (k key) compare(other key) int {
	return cmp.Or(strings.Compare(k.named, other.named), cmp.Compare(k.kind, other.kind),
		strings.Compare(k.namespace, other.namespace), strings.Compare(k.source, other.source))
}

// The labels of a ClusterServiceVersion that name platforms begin so.
const (
	architectureLabels = "operatorframework.io/arch"
	systemLabels       = "operatorframework.io/os"
)

// PlatformLabel says whether a label decides about platforms.
func PlatformLabel(name string) bool {
	return strings.HasPrefix(name, architectureLabels) || strings.HasPrefix(name, systemLabels)
}

// PlatformsOf reads labels as OLM's package server does: an operator without any label of
// architectures runs on amd64, one without any of systems on linux. Only the value "supported"
// counts.
func PlatformsOf(labels map[string]string) Platforms {
	return Platforms{
		Architectures: supported(labels, architectureLabels, "amd64"),
		Systems:       supported(labels, systemLabels, "linux"),
	}
}

func supported(labels map[string]string, prefix, otherwise string) []string {
	var found []string
	labelled := false
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		labelled = true
		if platform, ok := strings.CutPrefix(name, prefix+"."); ok && platform != "" && labels[name] == "supported" {
			found = append(found, platform)
		}
	}
	if !labelled {
		return []string{otherwise}
	}
	return found
}
