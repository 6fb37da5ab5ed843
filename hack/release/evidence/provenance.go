package evidence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// ProvenanceType is the media type of a statement of in-toto.
const ProvenanceType = "application/vnd.in-toto+json"

const (
	repository = "https://github.com/tabard-dev/tabard"
	// buildType says what the parameters mean: the page describes the command.
	buildType = repository + "/blob/main/docs/releasing.md#what-the-provenance-says"
)

// Artifact is something that was built: a file, or an image by its manifest.
type Artifact struct {
	Name string
	// SHA256 is its digest, in hexadecimal.
	SHA256 string
}

// Build is what a release was made from.
type Build struct {
	Version string
	// Revision is the commit, or empty if what was built is no commit.
	Revision string
	// Go is the version of the compiler, such as go1.26.8.
	Go string
	// Platforms are what the release was made for.
	Platforms []string
}

// statement is in-toto's statement, version 1, with the predicate of SLSA provenance,
// version 1 (https://slsa.dev/spec/v1.0/provenance). Times and the builder's machine are
// left out: two who build the same commit write the same statement.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     struct {
		BuildDefinition definition `json:"buildDefinition"`
		RunDetails      struct {
			Builder struct {
				ID string `json:"id"`
			} `json:"builder"`
		} `json:"runDetails"`
	} `json:"predicate"`
}

type definition struct {
	BuildType            string         `json:"buildType"`
	ExternalParameters   map[string]any `json:"externalParameters"`
	ResolvedDependencies []resource     `json:"resolvedDependencies"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

// Provenance is the statement of what artifacts were made from. It is not signed: a
// reader trusts it as far as the place that it comes from, or builds the commit again
// and compares.
func Provenance(build Build, artifacts ...Artifact) ([]byte, error) {
	artifacts = slices.SortedFunc(slices.Values(artifacts), func(a, b Artifact) int { return cmp.Compare(a.Name, b.Name) })
	said := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, artifact := range artifacts {
		said.Subject = append(said.Subject, resource{Name: artifact.Name, Digest: map[string]string{"sha256": artifact.SHA256}})
	}
	source := resource{URI: "git+" + repository}
	if build.Revision != "" {
		source.URI += "@" + build.Revision
		source.Digest = map[string]string{"gitCommit": build.Revision}
	}
	said.Predicate.BuildDefinition = definition{
		BuildType:            buildType,
		ExternalParameters:   map[string]any{"version": build.Version, "platforms": build.Platforms},
		ResolvedDependencies: []resource{source, {Name: "go", URI: "pkg:golang/std@" + trimGo(build.Go)}},
	}
	said.Predicate.RunDetails.Builder.ID = repository + "/blob/main/hack/release"
	text, err := json.MarshalIndent(said, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the provenance: %w", err)
	}
	return append(text, '\n'), nil
}
