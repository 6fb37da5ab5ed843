package catalogue

import "fmt"

// Code is what kind of finding it is.
type Code string

// What can be wrong with a catalogue. Each is what a person looks up.
const (
	// DocumentBroken is a document that cannot be read.
	DocumentBroken Code = "DocumentBroken"
	// DocumentTooLarge is a document beyond the reader's bounds.
	DocumentTooLarge Code = "DocumentTooLarge"
	// DocumentIncomplete is a document without a field that it must have.
	DocumentIncomplete Code = "DocumentIncomplete"
	// FieldTwice is a document with a field twice, in the same or in different case.
	FieldTwice Code = "FieldTwice"
	// FileNotRead is a file that was left out.
	FileNotRead Code = "FileNotRead"
	// MetadataBroken is a ClusterServiceVersion or a property that cannot be read: what it
	// would say is unknown.
	MetadataBroken Code = "MetadataBroken"
	// DefinedTwice is a package, channel or bundle that is there twice. The first one counts.
	DefinedTwice Code = "DefinedTwice"
	// PackageNotDefined is a package with channels or bundles and without a document of its own.
	PackageNotDefined Code = "PackageNotDefined"
	// DefaultChannelMissing is a package whose default channel does not exist.
	DefaultChannelMissing Code = "DefaultChannelMissing"
	// BundleMissing is an entry of a channel without a bundle.
	BundleMissing Code = "BundleMissing"
	// ChannelWithoutHead is a channel of which each entry is replaced or skipped.
	ChannelWithoutHead Code = "ChannelWithoutHead"
	// ChannelWithHeads is a channel with several entries that nothing replaces or skips.
	ChannelWithHeads Code = "ChannelWithHeads"
	// ReplacesCycle is a bundle that replaces itself, over others or at once.
	ReplacesCycle Code = "ReplacesCycle"
	// RangeBroken is a range of versions that cannot be read.
	RangeBroken Code = "RangeBroken"
	// VersionBroken is a version that is no semantic version.
	VersionBroken Code = "VersionBroken"
	// NameOdd is a name that no object of Kubernetes can have.
	NameOdd Code = "NameOdd"
	// ValueOdd is an annotation with a value that does not count.
	ValueOdd Code = "ValueOdd"
	// AnnotationBroken is an annotation whose JSON cannot be read. It counts as absent.
	AnnotationBroken Code = "AnnotationBroken"
	// AnnotationsTooLarge are annotations that no API server would take. They count as unknown.
	AnnotationsTooLarge Code = "AnnotationsTooLarge"
	// NotAskedFor is an object that a cluster answered with, though others were asked for. It
	// was passed over.
	NotAskedFor Code = "NotAskedFor"
	// SourceNotRead is a source of a cluster that could not be read: what it has is unknown.
	SourceNotRead Code = "SourceNotRead"
	// TooManyFindings stands for all further findings.
	TooManyFindings Code = "TooManyFindings"
)

// Where is the place of a finding.
type Where struct {
	// File is empty where there is none, as with objects of a cluster.
	File string
	// Source is zero for files.
	Source Source
	// Document counts from 1 within the file; 0 is the file itself.
	Document int
	// Object is what it is about, such as package "p", as Object makes it; it may be empty.
	Object string
}

// Finding is something wrong with a catalogue. Message is harmless in a terminal, and so is
// String.
type Finding struct {
	Code    Code
	Where   Where
	Message string
}

// Object names an object of a catalogue. Odd characters of the name are escaped.
func Object(kind, name string) string {
	return kind + " " + Quoted(name)
}

// Quoted is a text that others wrote, in quotes, with odd characters escaped, and 200 bytes of
// it at most.
func Quoted(text string) string {
	const longest = 200
	if len(text) > longest {
		return fmt.Sprintf("%q…", text[:longest])
	}
	return fmt.Sprintf("%q", text)
}

func (f Finding) String() string {
	where := f.Where.Object
	if source := f.Where.Source.String(); where == "" {
		where = source
	} else if source != "" {
		where += " of " + source
	}
	if f.Where.File != "" {
		file := Quoted(f.Where.File)
		if f.Where.Document > 0 {
			file = fmt.Sprintf("%s, document %d", file, f.Where.Document)
		}
		if where != "" {
			file += ", " + where
		}
		where = file
	}
	if where == "" {
		return fmt.Sprintf("%s: %s", f.Code, f.Message)
	}
	return fmt.Sprintf("%s: %s: %s", f.Code, where, f.Message)
}
