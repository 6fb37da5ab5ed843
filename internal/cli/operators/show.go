package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
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
	own, unplaced := listing.About(read, p)
	d := detailDocument{Meta: command.MetaOf("OperatorDetail"), Detail: listing.DetailOf(p, f.placeOf(p)), own: own}
	d.Findings = listing.FindingsOf(slices.Concat(own, unplaced))
	bundle, err := f.of(p)
	switch {
	case err == nil:
		d.Choose(p, bundle)
		d.bundle = bundle
	case f.version != "" || f.channel != "":
		return err
	default:
		// Without a head the package is shown all the same.
		sayOn(streams.Err, "tabard: %v", err)
	}
	f.tellUnread(streams, read, p)
	return streams.PrintAs(f.output, command.Printed{Document: escaped{d}, Text: d.text, Names: []string{"package/" + p.Name}})
}

// detailDocument is a package as it is printed.
type detailDocument struct {
	command.Meta   `json:",inline"`
	listing.Detail `json:",inline"`

	// own are the findings of the package, without those that nobody can place.
	own []catalogue.Finding
	// bundle is the chosen one.
	bundle catalogue.Bundle
}

// text is the detail for people.
func (d detailDocument) text() string {
	var out lines
	out.say("Package:          %s", d.Package)
	if d.Deprecated != "" {
		out.say("Deprecated:       %s", d.Deprecated)
	}
	out.say("Catalogue:        %s", d.Source)
	out.say("Default channel:  %s", orDash(d.DefaultChannel))
	if d.Chosen != nil {
		d.about(&out)
	}
	d.history(&out)
	if d.Chosen != nil {
		d.demands(&out)
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
func (d detailDocument) about(out *lines) {
	c := d.Chosen
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
func (d detailDocument) history(out *lines) {
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
		rows = append(rows, []string{"  " + orDash(v.Version), v.CSV, orDash(strings.Join(v.Channels, ",")), listing.Few(upgrades(v)), v.Permissions.String(), state})
	}
	out.WriteString("Versions:\n" + command.Table(rows))
	if more := len(d.Versions) - mostVersions; more > 0 {
		out.say("  … and %d older; -o json has all", more)
	}
}

func upgrades(v listing.VersionDetail) []string {
	if len(v.Upgrades) == 0 {
		return []string{"-"}
	}
	return v.Upgrades
}

// demands say what the version supports, takes and asks for.
func (d detailDocument) demands(out *lines) {
	c := d.Chosen
	rows := [][]string{{"  FEATURE", "SUPPORT", "READ IN"}}
	for _, f := range c.Features {
		support := listing.Spoken(f.Support)
		if f.Support == "claimed" {
			support = "claims token support, cloud unknown"
			if f.Name == "token-auth-gcp" && strings.Contains(d.bundle.Metadata.Annotations[f.Source], "okenAuthGCP") {
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
	out.sayPermissions(c.Permissions, d.bundle, "  ")
}
