package operators

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
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
			by, catalogue.Quoted(name), catalogue.Quoted(p.Name), listing.Few(all)))
	}
	bundle, ok := p.Bundle(channel.Head)
	if !ok {
		return bundle, usage.Wrong(fmt.Errorf("channel %s of package %s has no head in the catalogue; type --version, one of %s",
			catalogue.Quoted(name), catalogue.Quoted(p.Name), listing.Few(versions(p))))
	}
	return bundle, nil
}

// bundleOf is the bundle with a version, or with a name.
func bundleOf(p *catalogue.Package, flag, version string) (catalogue.Bundle, error) {
	found := listing.Version(p, version)
	var names []string
	for _, b := range found {
		names = append(names, catalogue.Quoted(b.Name))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return catalogue.Bundle{}, usage.Wrong(fmt.Errorf("%s is %s, and package %s has the versions %s",
			flag, catalogue.Quoted(version), catalogue.Quoted(p.Name), listing.Few(versions(p))))
	}
	return catalogue.Bundle{}, usage.Wrong(fmt.Errorf("%s is %s, which %d bundles are: type the name of one, %s", flag, catalogue.Quoted(version), len(found), listing.Few(names)))
}

// versions are what can be typed for a version, the newest first.
func versions(p *catalogue.Package) []string {
	var out []string
	for _, b := range listing.Newest(p) {
		out = append(out, catalogue.Quoted(cmp.Or(b.Version, b.Name)))
	}
	return out
}
