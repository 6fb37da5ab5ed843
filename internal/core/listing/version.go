package listing

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Newest are the bundles of a package, the newest version first. Those without a version that can be
// read are last.
func Newest(p *catalogue.Package) []catalogue.Bundle {
	type one struct {
		bundle  catalogue.Bundle
		version semver.Version
		known   int
	}
	var all []one
	for _, b := range p.Bundles {
		v, err := semver.Parse(b.Version)
		known := 0
		if err == nil {
			known = 1
		}
		all = append(all, one{b, v, known})
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Or(b.known-a.known, b.version.Compare(a.version)) })
	var out []catalogue.Bundle
	for _, o := range all {
		out = append(out, o.bundle)
	}
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
