// Package catalogue is the read model of catalogues of operators, and what follows from it:
// the heads of channels, the upgrades into a bundle, and what a bundle says of itself. Every
// reader of catalogues makes the same model. What a source does not tell is unknown, never
// "none". Texts are kept as their authors wrote them: who shows one to a person makes it
// harmless first, as internal/cli/command.Plain does for a terminal. Texts of findings are
// harmless already.
package catalogue

// Catalogue is what one source offers. It is plain data: whoever changes it must be alone.
type Catalogue struct {
	// Packages are sorted by name, and by source where several have one of the same name.
	Packages []Package
	// Findings are what is wrong with the source. None of them hides what is good.
	Findings []Finding
}

// Package is one operator in all its versions, as one source has it: the same name in two
// sources is two packages.
type Package struct {
	Name string
	// Source is zero for files.
	Source Source
	// DefaultChannel is empty where the source names none.
	DefaultChannel string
	// Deprecation is what the source says against the package; empty if nothing.
	Deprecation string
	// Channels are sorted by name.
	Channels []Channel
	// Bundles are sorted by name.
	Bundles []Bundle
}

// Channel is a line of upgrades.
type Channel struct {
	Name        string
	Deprecation string
	// Entries are in the order of the source.
	Entries []Entry
	// EdgesKnown says that the source tells which entry replaces which. A PackageManifest
	// does not.
	EdgesKnown bool
	// Head is the entry that no other replaces or skips. It is empty if the channel is
	// invalid: see Heads. Where the edges are not known, it is what the source says, or empty.
	Head string
	// Invalid says that the channel has no head, or several.
	Invalid bool
}

// Entry is the place of a bundle in a channel.
type Entry struct {
	// Name is the bundle's.
	Name string
	// Replaces and Skips are names of bundles that upgrade to this one. The source may not
	// have them.
	Replaces string
	Skips    []string
	// SkipRange is a range of versions that upgrade to this one, as in ">=1.0.0 <1.2.0".
	SkipRange string
}

// Bundle is one version of an operator.
type Bundle struct {
	Name string
	// Version is empty if it is unknown. It never comes from the name.
	Version string
	// Image is where the bundle's contents are. It is empty in catalogues that have them
	// inside.
	Image       string
	Deprecation string
	// Metadata is nil if the source does not have it for this bundle: then nothing follows
	// from it, least of all that the operator needs nothing.
	Metadata *Metadata
	// Features are what the metadata says; all of them are Unknown without it.
	Features Features
	// Workload is nil unless the source has the whole ClusterServiceVersion.
	Workload *Workload
}

// SuggestedNamespace is where the author wants the operator to be installed; empty where the author does not
// say, or it is not known.
func (b *Bundle) SuggestedNamespace() string {
	if b.Metadata == nil {
		return ""
	}
	return b.Metadata.Annotations[SuggestedNamespace]
}

// Metadata is what is kept of a ClusterServiceVersion.
type Metadata struct {
	DisplayName, Provider string
	// InstallModes are the supported ones, sorted.
	InstallModes []string
	// Platforms is nil if the source does not tell.
	Platforms *Platforms
	// Annotations are only those for which Kept is true.
	Annotations map[string]string
	// Instructions are of the long description. They are kept only where no annotation declares
	// what the operator asks the cloud for.
	Instructions Instructions
}

// Platforms are what an operator runs on, by the labels of its ClusterServiceVersion.
type Platforms struct {
	// Architectures and Systems are sorted, as in amd64 and linux.
	Architectures, Systems []string
}

// Bundle finds a bundle of the package by its name.
func (p Package) Bundle(name string) (Bundle, bool) {
	for _, b := range p.Bundles {
		if b.Name == name {
			return b, true
		}
	}
	return Bundle{}, false
}

// Channel finds a channel of the package by its name.
func (p Package) Channel(name string) (Channel, bool) {
	for _, c := range p.Channels {
		if c.Name == name {
			return c, true
		}
	}
	return Channel{}, false
}
