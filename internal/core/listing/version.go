package listing

import (
	"slices"

	"github.com/blang/semver/v4"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// CompareVersions orders versions, those that can be read after those that cannot.
func CompareVersions(a, b string) int {
	x, errX := semver.Parse(a)
	y, errY := semver.Parse(b)
	switch {
	case errX != nil && errY != nil:
		return 0
	case errX != nil:
		return -1
	case errY != nil:
		return 1
	}
	return x.Compare(y)
}

// Newest are the bundles of a package, the newest version first. Those without a version that can be
// read are last.
func Newest(p *catalogue.Package) []catalogue.Bundle {
	out := slices.Clone(p.Bundles)
	slices.SortStableFunc(out, func(a, b catalogue.Bundle) int { return CompareVersions(b.Version, a.Version) })
	return out
}

// Version are the bundles that a person means by a version or by the name of a ClusterServiceVersion.
// A name is of one bundle at most; a version may be of several.
func Version(p *catalogue.Package, version string) []catalogue.Bundle {
	if b, ok := p.Bundle(version); ok {
		return []catalogue.Bundle{b}
	}
	var found []catalogue.Bundle
	for _, b := range p.Bundles {
		if b.Version == version {
			found = append(found, b)
		}
	}
	return found
}
