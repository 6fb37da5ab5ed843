package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/blang/semver/v4"
)

// mostFindings bounds the memory of findings: a source may have one in each line.
const mostFindings = 1000

// Builder puts a catalogue together from what a reader comes upon, in any order. The zero value
// is empty. It is not safe for concurrent use.
type Builder struct {
	packages map[key]*building
	source   Source
	findings []Finding
	more     int
}

// building is a package of which more may come.
type building struct {
	name        string
	source      Source
	defined     bool
	where       Where
	pkg         Package
	channels    map[string]*Channel
	bundles     map[string]*Bundle
	deprecation map[Reference]string
}

// Reference is what a deprecation is about.
type Reference struct {
	// Schema is olm.package, olm.channel or olm.bundle.
	Schema string
	// Name is empty for the package itself.
	Name string
}

// Find adds findings, of which the catalogue keeps a thousand.
func (b *Builder) Find(findings ...Finding) {
	for _, f := range findings {
		if len(b.findings) < mostFindings {
			b.findings = append(b.findings, f)
		} else {
			b.more++
		}
	}
}

// From says which source all that follows is from.
func (b *Builder) From(source Source) { b.source = source }

// Has says whether something was added of the package with this name, of the source that all is
// from now.
func (b *Builder) Has(pkg string) bool { return b.packages[b.source.key(pkg)] != nil }

func (b *Builder) of(name string, where Where) *building {
	if b.packages == nil {
		b.packages = map[key]*building{}
	}
	at := b.source.key(name)
	p := b.packages[at]
	if p == nil {
		p = &building{
			name: name, source: b.source, where: where,
			channels: map[string]*Channel{}, bundles: map[string]*Bundle{}, deprecation: map[Reference]string{},
		}
		b.packages[at] = p
		b.checkName("package", name, where)
	}
	return p
}

// checkName names what no object of Kubernetes is called: it could be taken for a flag, a path
// or a command to the terminal.
func (b *Builder) checkName(kind, name string, where Where) {
	const longest = 253
	odd := len(name) > longest || strings.HasPrefix(name, "-") || strings.HasPrefix(name, ".") ||
		strings.ContainsFunc(name, func(r rune) bool {
			return r == '/' || r == '\\' || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsGraphic(r)
		})
	if odd {
		where.Object = Object(kind, name)
		b.Find(Finding{NameOdd, where, fmt.Sprintf(
			"the name is not one of Kubernetes: expected %d bytes at most, of letters, digits, '-' and '.', beginning with a letter or digit", longest)})
	}
}

func (b *Builder) twice(kind, name string, where Where) {
	where.Object = Object(kind, name)
	b.Find(Finding{DefinedTwice, where, "it is there already; the first one counts"})
}

// Package adds a package's own document. Only its name and default channel are looked at.
func (b *Builder) Package(p Package, where Where) {
	of := b.of(p.Name, where)
	if of.defined {
		b.twice("package", p.Name, where)
		return
	}
	of.defined, of.where = true, where
	of.pkg.DefaultChannel = p.DefaultChannel
}

// Channel adds a channel of the package with this name.
func (b *Builder) Channel(pkg string, c Channel, where Where) {
	of := b.of(pkg, where)
	if of.channels[c.Name] != nil {
		b.twice("channel", c.Name, where)
		return
	}
	b.checkName("channel", c.Name, where)
	where.Object = Object("channel", c.Name)
	for _, finding := range c.check() {
		finding.Where = where
		b.Find(finding)
	}
	of.channels[c.Name] = &c
}

// Bundle adds a bundle of the package with this name. Its features follow from its metadata.
func (b *Builder) Bundle(pkg string, bundle Bundle, where Where) {
	of := b.of(pkg, where)
	if of.bundles[bundle.Name] != nil {
		b.twice("bundle", bundle.Name, where)
		return
	}
	b.checkName("bundle", bundle.Name, where)
	where.Object = Object("bundle", bundle.Name)
	if bundle.Version != "" {
		if _, err := semver.Parse(bundle.Version); err != nil {
			b.Find(Finding{VersionBroken, where, fmt.Sprintf("the version is %s, expected one as in 1.2.3; no skipRange holds it", Quoted(bundle.Version))})
		}
	}
	if bundle.Metadata != nil {
		features, findings := FeaturesOf(bundle.Metadata.Annotations)
		bundle.Features = features
		for _, finding := range append(findings, CheckAnnotations(bundle.Metadata.Annotations)...) {
			finding.Where = where
			b.Find(finding)
		}
	}
	of.bundles[bundle.Name] = &bundle
}

// Deprecate adds what the source says against a package, or a channel or bundle of it.
func (b *Builder) Deprecate(pkg string, what Reference, message string, where Where) {
	of := b.of(pkg, where)
	if _, ok := of.deprecation[what]; ok {
		b.twice("deprecation of "+what.Schema, what.Name, where)
		return
	}
	of.deprecation[what] = message
}

// Build is the catalogue of all that was added. The builder must not be used any more.
func (b *Builder) Build() Catalogue {
	var made Catalogue
	for _, at := range slices.SortedFunc(maps.Keys(b.packages), key.compare) {
		made.Packages = append(made.Packages, b.build(b.packages[at]))
		delete(b.packages, at)
	}
	if b.more > 0 {
		b.findings = append(b.findings, Finding{Code: TooManyFindings, Message: fmt.Sprintf(
			"%d more findings are not listed; mend these first and read the catalogue again", b.more)})
	}
	made.Findings = b.findings
	return made
}

func (b *Builder) build(of *building) Package {
	p := of.pkg
	p.Name, p.Source = of.name, of.source
	where := of.where
	where.Object = Object("package", p.Name)
	p.Deprecation = of.deprecation[Reference{Schema: "olm.package"}]
	missing := 0
	var example string
	for _, name := range slices.Sorted(maps.Keys(of.channels)) {
		c := of.channels[name]
		c.Deprecation = of.deprecation[Reference{"olm.channel", name}]
		p.Channels = append(p.Channels, *c)
		for _, e := range c.Entries {
			if of.bundles[e.Name] == nil {
				missing, example = missing+1, cmp.Or(example, Quoted(e.Name)+" of "+Object("channel", name))
			}
		}
	}
	p.Bundles = make([]Bundle, 0, len(of.bundles))
	for _, name := range slices.Sorted(maps.Keys(of.bundles)) {
		bundle := of.bundles[name]
		bundle.Deprecation = of.deprecation[Reference{"olm.bundle", name}]
		p.Bundles = append(p.Bundles, *bundle)
	}
	switch {
	case !of.defined:
		b.Find(Finding{PackageNotDefined, where, "there are channels or bundles of the package, and no document olm.package"})
	case of.channels[p.DefaultChannel] == nil:
		b.Find(Finding{DefaultChannelMissing, where, fmt.Sprintf("the default channel is %s, and the package has no such channel", Quoted(p.DefaultChannel))})
	}
	if missing > 0 {
		b.Find(Finding{BundleMissing, where, fmt.Sprintf("%d entries of channels have no bundle, the first is %s", missing, example)})
	}
	return p
}
