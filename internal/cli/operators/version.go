package operators

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// versionFlags choose a bundle of a package.
type versionFlags struct{ version, channel string }

func (v *versionFlags) add(f *pflag.FlagSet) {
	f.StringVar(&v.version, "version", "", "the `VERSION`, or the name of its ClusterServiceVersion (default: the channel's head)")
	f.StringVar(&v.channel, "channel", "", "the `CHANNEL` whose head is meant (default: the package's default channel)")
}

func (v *versionFlags) check() error {
	if v.version != "" && v.channel != "" {
		return fmt.Errorf("--version and --channel each choose a version: leave one out")
	}
	return nil
}

// of is the bundle that the flags choose.
func (v *versionFlags) of(p *catalogue.Package) (catalogue.Bundle, error) {
	if v.version != "" {
		return bundleOf(p, "--version", v.version)
	}
	name, by := v.channel, "--channel"
	if name == "" {
		name, by = p.DefaultChannel, "the default channel"
	}
	channel, ok := p.Channel(name)
	if !ok {
		var all []string
		for _, c := range p.Channels {
			all = append(all, catalogue.Quoted(c.Name))
		}
		return catalogue.Bundle{}, usage.Wrong(fmt.Errorf("%s is %s, and package %s has the channels %s; type --channel or --version",
			by, catalogue.Quoted(name), catalogue.Quoted(p.Name), few(all)))
	}
	bundle, ok := p.Bundle(channel.Head)
	if !ok {
		return bundle, usage.Wrong(fmt.Errorf("channel %s of package %s has no head in the catalogue; type --version, one of %s",
			catalogue.Quoted(name), catalogue.Quoted(p.Name), few(versions(p))))
	}
	return bundle, nil
}

// bundleOf is the bundle with a version, or with a name.
func bundleOf(p *catalogue.Package, flag, version string) (catalogue.Bundle, error) {
	if b, ok := p.Bundle(version); ok {
		return b, nil
	}
	var found []catalogue.Bundle
	var names []string
	for _, b := range p.Bundles {
		if b.Version == version {
			found, names = append(found, b), append(names, catalogue.Quoted(b.Name))
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return catalogue.Bundle{}, usage.Wrong(fmt.Errorf("%s is %s, and package %s has the versions %s",
			flag, catalogue.Quoted(version), catalogue.Quoted(p.Name), few(versions(p))))
	}
	return catalogue.Bundle{}, usage.Wrong(fmt.Errorf("%s is %s, which %d bundles are: type the name of one, %s", flag, catalogue.Quoted(version), len(found), few(names)))
}

// newest are the bundles of a package, the newest version first. Those without a version that can
// be read are last.
func newest(p *catalogue.Package) []catalogue.Bundle {
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

// versions are what can be typed for a version, the newest first.
func versions(p *catalogue.Package) []string {
	var out []string
	for _, b := range newest(p) {
		out = append(out, catalogue.Quoted(cmp.Or(b.Version, b.Name)))
	}
	return out
}

// few are up to eight texts.
func few(all []string) string {
	const most = 8
	switch {
	case len(all) == 0:
		return "none"
	case len(all) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
