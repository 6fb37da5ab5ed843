package operators

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

const showLong = `Show one operator: what it is, its channels and versions, its features and where each was
read, the values that it takes, what it asks the cloud for in sentences, and what is wrong with
its part of the catalogue.

Exit codes: 0 done, also where some of it is unknown; 2 the input cannot be used.`

type showFlags struct {
	source
	versionFlags
	output command.Output
}

func newShow(streams command.Streams, world World) *cobra.Command {
	f := &showFlags{}
	out := &cobra.Command{
		Use:   "show PACKAGE",
		Short: "Show an operator: versions, features and what it asks for",
		Long:  showLong,
		Example: `  tabard operators show my-operator --catalogue catalog.json
  tabard operators show my-operator --catalogue catalog.json --version 1.0.0 -o json`,
		Args: onePackage(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if err := f.output.Check(); err != nil {
				return err
			}
			if err := f.source.check(false); err != nil {
				return err
			}
			if err := f.versionFlags.check(); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world, args[0])
		}),
	}
	f.source.add(out.Flags())
	f.versionFlags.add(out.Flags())
	f.output.AddFlags(out, command.Name)
	return out
}

func (f *showFlags) run(ctx context.Context, streams command.Streams, world World, name string) error {
	read, err := f.read(ctx, streams, world, name)
	if err != nil {
		return err
	}
	p, err := f.find(read, name)
	if err != nil {
		return err
	}
	d := detailOf(p)
	d.Source = f.placeOf(p)
	own, unplaced := about(read, p)
	d.Findings, d.unplaced = findingsOf(append(own, unplaced...)), len(unplaced)
	d.own = own
	bundle, err := f.of(p)
	switch {
	case err == nil:
		d.choose(p, bundle)
	case f.version != "" || f.channel != "":
		return err
	default:
		// Without a head the package is shown all the same.
		sayOn(streams.Err, "tabard: %v", err)
	}
	f.tellUnread(streams, read, p)
	return streams.PrintAs(f.output, command.Printed{Document: escaped{d}, Text: d.text, Names: []string{"package/" + p.Name}})
}

// detail is all that is known of a package.
type detail struct {
	command.Meta   `json:",inline"`
	Source         place           `json:"source"`
	Package        string          `json:"package"`
	DefaultChannel string          `json:"defaultChannel,omitempty"`
	Deprecated     string          `json:"deprecated,omitempty"`
	Channels       []channelDetail `json:"channels"`
	Versions       []versionDetail `json:"versions"`
	// Chosen is the version that the rest is about; nil if there is none.
	Chosen   *chosen   `json:"chosen,omitempty"`
	Findings []finding `json:"findings"`

	own      []catalogue.Finding
	unplaced int
}

type channelDetail struct {
	Name string `json:"name"`
	// Head is empty if the channel is invalid.
	Head       string `json:"head,omitempty"`
	Invalid    bool   `json:"invalid,omitempty"`
	Entries    int    `json:"entries"`
	Deprecated string `json:"deprecated,omitempty"`
}

type versionDetail struct {
	Version    string   `json:"version,omitempty"`
	CSV        string   `json:"csv"`
	Channels   []string `json:"channels"`
	Upgrades   []string `json:"upgradesFrom"`
	Deprecated string   `json:"deprecated,omitempty"`
	// Permissions counts what the version asks for.
	Permissions asked `json:"permissions"`
}

// feature is what a version says of one feature.
type feature struct {
	Name string `json:"name"`
	// Support is yes, no, notStated, claimed or unknown.
	Support string `json:"support"`
	// Source is the annotation that says so; empty for none.
	Source string `json:"source,omitempty"`
}

// chosen is one version.
type chosen struct {
	Version      string   `json:"version,omitempty"`
	CSV          string   `json:"csv"`
	DisplayName  string   `json:"displayName,omitempty"`
	Provider     string   `json:"provider,omitempty"`
	Description  string   `json:"description,omitempty"`
	Capabilities string   `json:"capabilities,omitempty"`
	Categories   []string `json:"categories"`
	InstallModes []string `json:"installModes"`
	Repository   string   `json:"repository,omitempty"`
	// MetadataKnown says that the catalogue has the version's metadata: without it, features and
	// permissions are unknown.
	MetadataKnown bool           `json:"metadataKnown"`
	Features      []feature      `json:"features"`
	Values        []string       `json:"values"`
	Permissions   permission.Set `json:"permissions"`
	Instructions  []string       `json:"instructions,omitempty"`

	bundle catalogue.Bundle
}

// detailOf is a package without a chosen version.
func detailOf(p *catalogue.Package) detail {
	d := detail{
		Meta: command.MetaOf("OperatorDetail"), Package: p.Name, DefaultChannel: p.DefaultChannel, Deprecated: p.Deprecation,
		Channels: []channelDetail{}, Versions: []versionDetail{},
	}
	for _, c := range p.Channels {
		d.Channels = append(d.Channels, channelDetail{c.Name, c.Head, c.Invalid, len(c.Entries), c.Deprecation})
	}
	in := map[string][]int{} // channels by bundle
	for i, c := range p.Channels {
		for _, e := range c.Entries {
			if known := in[e.Name]; len(known) == 0 || known[len(known)-1] != i {
				in[e.Name] = append(known, i)
			}
		}
	}
	for _, b := range newest(p) {
		v := versionDetail{Version: b.Version, CSV: b.Name, Channels: []string{}, Upgrades: []string{}, Deprecated: b.Deprecation, Permissions: askedBy(p, b)}
		from := map[string]bool{}
		for _, i := range in[b.Name] {
			v.Channels = append(v.Channels, p.Channels[i].Name)
			for _, edge := range p.Upgrades(p.Channels[i], b.Name) {
				if !from[edge.From] {
					from[edge.From] = true
					v.Upgrades = append(v.Upgrades, edge.From)
				}
			}
		}
		d.Versions = append(d.Versions, v)
	}
	return d
}

// choose adds what one version says.
func (d *detail) choose(p *catalogue.Package, b catalogue.Bundle) {
	c := &chosen{Version: b.Version, CSV: b.Name, Categories: []string{}, InstallModes: []string{}, Values: []string{}, bundle: b, Permissions: permission.OfBundle(p.Name, b, nil)}
	if b.Metadata != nil {
		a := b.Metadata.Annotations
		c.MetadataKnown = true
		c.DisplayName, c.Provider = b.Metadata.DisplayName, b.Metadata.Provider
		c.Description, c.Capabilities, c.Repository = a[catalogue.Description], a["capabilities"], a["repository"]
		c.Categories, c.InstallModes = append(c.Categories, b.Categories()...), append(c.InstallModes, b.Metadata.InstallModes...)
		if _, known := c.Permissions.Requests(); !known {
			c.Instructions = instructions(b).Lines
		}
	}
	c.Features = featuresOf(b)
	for _, cloud := range clouds {
		if b.Features.Tokens[cloud] == catalogue.Yes {
			c.Values = append(c.Values, values[cloud]...)
		}
	}
	d.Chosen = c
}

// values are the environment variables by which an operator gets its role
// (https://github.com/openshift/enhancements, tokenized-auth-enablement-operators-on-cloud).
var values = map[catalogue.Cloud][]string{
	catalogue.AWS:   {"ROLEARN"},
	catalogue.Azure: {"CLIENTID", "TENANTID", "SUBSCRIPTIONID", "RESOURCEGROUP", "REGION"},
	catalogue.GCP:   {"PROJECT_NUMBER", "POOL_ID", "PROVIDER_ID", "SERVICE_ACCOUNT_EMAIL", "AUDIENCE"},
}

// featuresOf are all features of a bundle, each with the annotation that says so.
func featuresOf(b catalogue.Bundle) []feature {
	const prefix = "features.operators.openshift.io/"
	var out []feature
	add := func(name string, support catalogue.Support) {
		f := feature{Name: name, Support: written(support)}
		if support == catalogue.Yes || support == catalogue.No || support == catalogue.Claimed {
			f.Source = prefix + name
			if _, own := b.Metadata.Annotations[f.Source]; !own {
				f.Source = catalogue.InfrastructureFeatures
			}
		}
		out = append(out, f)
	}
	for _, c := range clouds {
		add("token-auth-"+c.String(), b.Features.Tokens[c])
	}
	for f := catalogue.Disconnected; f <= catalogue.SingleNode; f++ {
		add(f.String(), b.Features.Others[f])
	}
	return out
}

// text is the detail for people.
func (d detail) text() string {
	var out lines
	out.say("Package:          %s", d.Package)
	if d.Deprecated != "" {
		out.say("Deprecated:       %s", d.Deprecated)
	}
	out.say("Catalogue:        %s", d.Source)
	out.say("Default channel:  %s", orDash(d.DefaultChannel))
	if d.Chosen != nil {
		d.Chosen.about(&out)
	}
	d.history(&out)
	if d.Chosen != nil {
		d.Chosen.demands(&out)
	}
	if len(d.own) > 0 {
		out.say("Findings:")
		for _, f := range d.own {
			out.say("  - %s", f)
		}
	}
	return out.String()
}

// about says what the version is.
func (c *chosen) about(out *lines) {
	out.say("Version:          %s (%s)", orDash(c.Version), c.CSV)
	if !c.MetadataKnown {
		out.say("Metadata:         unknown: the catalogue has none of this version that can be used")
		return
	}
	for _, one := range [][2]string{
		{"Name", c.DisplayName}, {"Provider", c.Provider}, {"Description", c.Description}, {"Capabilities", c.Capabilities},
		{"Categories", strings.Join(c.Categories, ", ")}, {"Install modes", strings.Join(c.InstallModes, ", ")}, {"Repository", c.Repository},
	} {
		if one[1] != "" {
			out.say("%-17s %s", one[0]+":", one[1])
		}
	}
}

// mostVersions bounds what is shown to people; programs get all.
const mostVersions = 20

// history shows channels and versions.
func (d detail) history(out *lines) {
	rows := [][]string{{"  CHANNEL", "HEAD", "ENTRIES", "STATE"}}
	for _, c := range d.Channels {
		state := "-"
		switch {
		case c.Invalid:
			state = "invalid: no single head"
		case c.Deprecated != "":
			state = "deprecated: " + c.Deprecated
		}
		rows = append(rows, []string{"  " + c.Name, orDash(c.Head), fmt.Sprint(c.Entries), state})
	}
	out.WriteString("Channels:\n" + command.Table(rows))
	rows = [][]string{{"  VERSION", "CSV", "CHANNELS", "UPGRADES FROM", "PERMISSIONS", "STATE"}}
	for i, v := range d.Versions {
		if i == mostVersions {
			break
		}
		state := "-"
		if v.Deprecated != "" {
			state = "deprecated: " + v.Deprecated
		}
		rows = append(rows, []string{"  " + orDash(v.Version), v.CSV, orDash(strings.Join(v.Channels, ",")), few(append([]string{}, v.upgrades()...)), v.Permissions.String(), state})
	}
	out.WriteString("Versions:\n" + command.Table(rows))
	if more := len(d.Versions) - mostVersions; more > 0 {
		out.say("  … and %d older; -o json has all", more)
	}
}

func (v versionDetail) upgrades() []string {
	if len(v.Upgrades) == 0 {
		return []string{"-"}
	}
	return v.Upgrades
}

// demands say what the version supports, takes and asks for.
func (c *chosen) demands(out *lines) {
	rows := [][]string{{"  FEATURE", "SUPPORT", "READ IN"}}
	for _, f := range c.Features {
		support := strings.ReplaceAll(f.Support, "notStated", "not stated")
		if f.Support == "claimed" {
			support = "claims token support, cloud unknown"
			if f.Name == "token-auth-gcp" && strings.Contains(c.bundle.Metadata.Annotations[f.Source], "okenAuthGCP") {
				support = "claims token support"
			}
		}
		rows = append(rows, []string{"  " + f.Name, support, orDash(f.Source)})
	}
	out.WriteString("Features:\n" + command.Table(rows))
	if len(c.Values) > 0 {
		out.say("Values it takes:  %s", strings.Join(c.Values, ", "))
	}
	out.say("Permissions:")
	out.sayPermissions(c.Permissions, c.bundle, "  ")
}
