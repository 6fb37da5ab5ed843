// Package evidence writes what users need to judge a program that they did not build: the
// modules that are in it, and the source and the commands that it was made from. The
// documents of equal programs are equal bytes.
package evidence

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// MaterialsType is the media type of a bill of materials.
const MaterialsType = "application/vnd.cyclonedx+json"

// Subject is the program that a document is about.
type Subject struct {
	// Name and Version are those that users know it by.
	Name, Version string
	// SHA256 is the digest of its file, in hexadecimal.
	SHA256 string
	// Created is the time that the document carries.
	Created time.Time
}

// Materials is the bill of materials of a Go program (CycloneDX 1.6, JSON), read from
// what the linker wrote into the very file. It lists the modules that packages are linked
// from, which are fewer than those of go.mod, and Go's standard library.
func Materials(path string, of Subject) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the modules of a program: %w", err)
	}
	return materials(info, of)
}

func materials(info *debug.BuildInfo, of Subject) ([]byte, error) {
	root := module(info.Main.Path, of.Version)
	root.Type, root.Name = cyclonedx.ComponentTypeApplication, of.Name
	root.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: of.SHA256}}
	root.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}

	components := []cyclonedx.Component{module("std", info.GoVersion)}
	for _, dependency := range info.Deps {
		components = append(components, linked(dependency, of.Version))
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })

	var needed []string
	for _, component := range components {
		needed = append(needed, component.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	// The number names the document. It follows from the program, so that it is the same
	// wherever the program is built.
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, []byte(of.SHA256)).URN()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: of.Created.UTC().Format(time.RFC3339), Component: &root}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: root.BOMRef, Dependencies: &needed}}

	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		return nil, fmt.Errorf("write the bill of materials of %s: %w", of.Name, err)
	}
	return text.Bytes(), nil
}

// linked is the component of a module that a program is linked from. What stands in a
// folder of the checkout has the version of the program.
func linked(dependency *debug.Module, version string) cyclonedx.Component {
	switch by := dependency.Replace; {
	case by == nil:
		return module(dependency.Path, dependency.Version)
	case by.Version == "":
		return module(dependency.Path, version)
	default:
		return module(by.Path, by.Version)
	}
}

// module is the component of a Go module. Its package URL is how scanners look for
// known weaknesses: std is the standard library's there.
func module(path, version string) cyclonedx.Component {
	if path == "std" {
		version = trimGo(version)
	}
	url := fmt.Sprintf("pkg:golang/%s@%s", path, version)
	return cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, Name: path, Version: version, PackageURL: url}
}

// trimGo makes 1.26.8 of go1.26.8 X:experiment.
func trimGo(version string) string {
	number, _, _ := strings.Cut(version, " ")
	return strings.TrimPrefix(number, "go")
}
