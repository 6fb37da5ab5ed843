package permission

import (
	"math"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// SourceKind says where a Set was read. The order of the constants is the order in which sources
// are asked: the first that answers is used.
type SourceKind string

// The sources.
const (
	// SourceRequests are files that a person gives.
	SourceRequests SourceKind = "requests"
	// SourceAnnotation is Annotation of a CSV.
	SourceAnnotation SourceKind = "annotation"
	// SourceBundle is a folder of a bundle, or a ConfigMap among its manifests.
	SourceBundle SourceKind = "bundle"
	// SourceManifests is a CredentialsRequest among a bundle's manifests, with which OLM does not
	// install it.
	SourceManifests SourceKind = "manifests"
	// SourceLive are the CredentialsRequests of an operator that is installed.
	SourceLive SourceKind = "live"
	// SourceNone is none.
	SourceNone SourceKind = "none"
)

// Annotation is the annotation of a CSV that declares what the operator asks for: a JSON list of
// CredentialsRequests. An empty list declares that it asks for nothing.
const Annotation = catalogue.CredentialsRequests

// Source is where a Set was read.
type Source struct {
	Kind SourceKind `json:"kind"`
	// Ref names the place, such as a file or a CSV.
	Ref string `json:"ref,omitempty"`
	// Digest is the SHA-256 of what is asked for: see Set.Digest. Empty where nothing is known.
	Digest string `json:"digest,omitempty"`
}

// String is the source as people read it, such as "annotation of my-operator.v1.0.0".
func (s Source) String() string {
	if s.Ref == "" {
		return string(s.Kind)
	}
	return string(s.Kind) + " of " + s.Ref
}

// Certainty says what an answer rests on.
type Certainty string

// The certainties.
const (
	// Given is by the person who asks.
	Given Certainty = "given"
	// Declared is by the operator's author.
	Declared Certainty = "declared"
	// Observed is seen in the cluster.
	Observed Certainty = "observed"
	// Unknown is no answer.
	Unknown Certainty = "unknown"
)

// certainty of what a source tells.
func (k SourceKind) certainty() Certainty {
	switch k {
	case SourceRequests:
		return Given
	case SourceAnnotation, SourceBundle, SourceManifests:
		return Declared
	case SourceLive:
		return Observed
	default:
		return Unknown
	}
}

// rank is the place in the order in which sources are asked.
func (k SourceKind) rank() int {
	for i, one := range []SourceKind{SourceRequests, SourceAnnotation, SourceBundle, SourceManifests, SourceLive} {
		if one == k {
			return i
		}
	}
	return math.MaxInt
}

// isAuthors says that an author writes the requests for clusters that nobody knows yet: what
// belongs to one cluster must be empty.
func (k SourceKind) isAuthors() bool { return k.certainty() == Declared }

// Nothing is the Set of an operator of which no source tells what it asks for.
func Nothing(subject Subject) Set { return subject.set(Source{Kind: SourceNone}) }

// set is a Set of the subject of which nothing is known yet.
func (s Subject) set(source Source) Set {
	return Set{Package: s.Package, Version: s.Version, CSV: s.CSV, Cloud: s.Cloud, TokenAuth: s.TokenAuth, Source: source, Certainty: Unknown}
}
