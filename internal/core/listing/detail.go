package listing

import (
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// Detail is all that is known of a package.
type Detail struct {
	Source         Place  `json:"source"`
	Package        string `json:"package"`
	DefaultChannel string `json:"defaultChannel,omitempty"`
	// Deprecated is what the catalogue says against the package.
	Deprecated string          `json:"deprecated,omitempty"`
	Channels   []ChannelDetail `json:"channels"`
	// Versions are the newest first.
	Versions []VersionDetail `json:"versions"`
	// Chosen is the version that the rest is about; nil if there is none.
	Chosen *Chosen `json:"chosen,omitempty"`
	// Findings are those that About tells of the package, and those that nobody can place.
	Findings []CatalogueFinding `json:"findings"`
}

// ChannelDetail is a channel of a package.
type ChannelDetail struct {
	Name string `json:"name"`
	// Head is the name of the bundle that a new install takes; empty if the channel is invalid.
	Head string `json:"head,omitempty"`
	// Invalid says that the channel has no single head.
	Invalid bool `json:"invalid,omitempty"`
	// Entries counts the bundles in the channel.
	Entries    int    `json:"entries"`
	Deprecated string `json:"deprecated,omitempty"`
}

// VersionDetail is a bundle of a package.
type VersionDetail struct {
	Version string `json:"version,omitempty"`
	// CSV is the name of its ClusterServiceVersion.
	CSV string `json:"csv"`
	// Channels are the names of those that have it.
	Channels []string `json:"channels"`
	// Upgrades are the names of the bundles that OLM upgrades to this one.
	Upgrades   []string `json:"upgradesFrom"`
	Deprecated string   `json:"deprecated,omitempty"`
	// Permissions counts what the version asks for.
	Permissions Asked `json:"permissions"`
}

// Feature is what a version says of one feature.
type Feature struct {
	Name string `json:"name"`
	// Support is yes, no, notStated, claimed or unknown.
	Support string `json:"support"`
	// Source is the annotation that says so; empty for none.
	Source string `json:"source,omitempty"`
}

// Chosen is one version with all that it says.
type Chosen struct {
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
	MetadataKnown bool      `json:"metadataKnown"`
	Features      []Feature `json:"features"`
	// Values are the environment variables by which it takes its role.
	Values      []string       `json:"values"`
	Permissions permission.Set `json:"permissions"`
	// Instructions are the author's own code blocks, where nothing else tells what is asked for.
	Instructions []string `json:"instructions,omitempty"`
}

// DetailOf is a package that was read at a place, without a chosen version and without findings.
func DetailOf(p *catalogue.Package, place Place) Detail {
	d := Detail{
		Source: place, Package: p.Name, DefaultChannel: p.DefaultChannel, Deprecated: p.Deprecation,
		Channels: []ChannelDetail{}, Versions: []VersionDetail{}, Findings: []CatalogueFinding{},
	}
	for _, c := range p.Channels {
		d.Channels = append(d.Channels, ChannelDetail{c.Name, c.Head, c.Invalid, len(c.Entries), c.Deprecation})
	}
	in := map[string][]int{} // channels by bundle
	for i, c := range p.Channels {
		for _, e := range c.Entries {
			if known := in[e.Name]; len(known) == 0 || known[len(known)-1] != i {
				in[e.Name] = append(known, i)
			}
		}
	}
	for _, b := range Newest(p) {
		v := VersionDetail{Version: b.Version, CSV: b.Name, Channels: []string{}, Upgrades: []string{}, Deprecated: b.Deprecation, Permissions: AskedBy(p, b)}
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

// Choose adds what one version says.
func (d *Detail) Choose(p *catalogue.Package, b catalogue.Bundle) {
	c := &Chosen{Version: b.Version, CSV: b.Name, Categories: []string{}, InstallModes: []string{}, Values: []string{}, Permissions: permission.OfBundle(p.Name, b, nil)}
	if b.Metadata != nil {
		a := b.Metadata.Annotations
		c.MetadataKnown = true
		c.DisplayName, c.Provider = b.Metadata.DisplayName, b.Metadata.Provider
		c.Description, c.Capabilities, c.Repository = a[catalogue.Description], a["capabilities"], a["repository"]
		c.Categories, c.InstallModes = append(c.Categories, b.Categories()...), append(c.InstallModes, b.Metadata.InstallModes...)
		if _, known := c.Permissions.Requests(); !known {
			c.Instructions = Instructions(b).Lines
		}
	}
	c.Features = FeaturesOf(b)
	for _, cloud := range Clouds() {
		if b.Features.Tokens[cloud] == catalogue.Yes {
			c.Values = append(c.Values, valuesOf(cloud)...)
		}
	}
	d.Chosen = c
}

// valuesOf are the environment variables by which an operator gets its role of a cloud
// (https://github.com/openshift/enhancements, tokenized-auth-enablement-operators-on-cloud).
func valuesOf(cloud catalogue.Cloud) []string {
	switch cloud {
	case catalogue.AWS:
		return []string{"ROLEARN"}
	case catalogue.Azure:
		return []string{"CLIENTID", "TENANTID", "SUBSCRIPTIONID", "RESOURCEGROUP", "REGION"}
	case catalogue.GCP:
		return []string{"PROJECT_NUMBER", "POOL_ID", "PROVIDER_ID", "SERVICE_ACCOUNT_EMAIL", "AUDIENCE"}
	}
	return nil
}

// FeaturesOf are all features of a bundle, each with the annotation that says so.
func FeaturesOf(b catalogue.Bundle) []Feature {
	const prefix = "features.operators.openshift.io/"
	var out []Feature
	add := func(name string, support catalogue.Support) {
		f := Feature{Name: name, Support: written(support)}
		if support == catalogue.Yes || support == catalogue.No || support == catalogue.Claimed {
			f.Source = prefix + name
			if _, own := b.Metadata.Annotations[f.Source]; !own {
				f.Source = catalogue.InfrastructureFeatures
			}
		}
		out = append(out, f)
	}
	for _, c := range Clouds() {
		add("token-auth-"+c.String(), b.Features.Tokens[c])
	}
	for f := catalogue.Disconnected; f <= catalogue.SingleNode; f++ {
		add(f.String(), b.Features.Others[f])
	}
	return out
}
