package listing

import (
	"cmp"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Row is a package with the version that a new install takes.
type Row struct {
	Source      Place  `json:"source"`
	Package     string `json:"package"`
	DisplayName string `json:"displayName,omitempty"`
	Provider    string `json:"provider,omitempty"`
	// Channel is the default one. Version and CSV are those of its head.
	Channel string `json:"channel,omitempty"`
	Version string `json:"version,omitempty"`
	CSV     string `json:"csv,omitempty"`
	// Tokens says for each cloud yes, no, notStated, claimed or unknown.
	Tokens map[string]string `json:"tokens"`
	// Features are the names of the others that are supported.
	Features []string `json:"features"`
	// Why says why nothing is known of features and permissions.
	Why         string `json:"why,omitempty"`
	Permissions Asked  `json:"permissions"`
	// Deprecated is what the catalogue says against the package, its channel or its version.
	Deprecated string `json:"deprecated,omitempty"`
	// Installed are its Subscriptions, if they were asked for.
	Installed []Install `json:"installed,omitempty"`
}

// Place is where a package was read.
type Place struct {
	// Kind is CatalogSource, ClusterCatalog, or how else the catalogue was named, such as file.
	Kind string `json:"kind"`
	// Namespace is the CatalogSource's.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is the place for people.
func (p Place) String() string {
	if p.Namespace != "" {
		return p.Namespace + "/" + p.Name
	}
	return p.Name
}

// Install is a Subscription of a package, by which OLM v0 installs it.
type Install struct {
	Namespace string `json:"namespace"`
	// CSV is what is installed; empty if nothing is yet.
	CSV string `json:"csv,omitempty"`
	// State is what OLM says of the Subscription. It does not say that the operator works.
	State string `json:"state,omitempty"`
}

// Clouds are those whose tokens the annotations know, in the order in which they are shown.
func Clouds() []catalogue.Cloud {
	return []catalogue.Cloud{catalogue.AWS, catalogue.Azure, catalogue.GCP}
}

// supportOf is what a bundle says of a cloud's tokens, unknown without a bundle.
func supportOf(b *catalogue.Bundle, c catalogue.Cloud) catalogue.Support {
	if b == nil {
		return catalogue.Unknown
	}
	return b.Features.Tokens[c]
}

// notStated is catalogue.NotStated for programs.
const notStated = "notStated"

// written is a support for programs.
func written(s catalogue.Support) string {
	if s == catalogue.NotStated {
		return notStated
	}
	return s.String()
}

// Spoken is the support of a row or a detail for people.
func Spoken(support string) string {
	if support == notStated {
		return catalogue.NotStated.String()
	}
	return support
}

// RowOf is the row of a package that was read at a place.
func RowOf(row catalogue.Row, place Place) Row {
	out := Row{Source: place, Package: row.Package.Name, Tokens: map[string]string{}, Features: []string{}, Deprecated: row.Package.Deprecation, Why: whyNothing(row)}
	for _, c := range Clouds() {
		out.Tokens[c.String()] = written(supportOf(row.Bundle, c))
	}
	if row.Channel != nil {
		out.Channel, out.Deprecated = row.Channel.Name, cmp.Or(out.Deprecated, row.Channel.Deprecation)
	}
	if row.Bundle == nil {
		out.Permissions = Asked{State: StateUnknown, Why: out.Why}
		return out
	}
	b := *row.Bundle
	out.Version, out.CSV, out.Deprecated = b.Version, b.Name, cmp.Or(out.Deprecated, b.Deprecation)
	if b.Metadata != nil {
		out.DisplayName, out.Provider = b.Metadata.DisplayName, b.Metadata.Provider
	}
	for f := catalogue.Disconnected; f <= catalogue.SingleNode; f++ {
		if b.Features.Others[f] == catalogue.Yes {
			out.Features = append(out.Features, f.String())
		}
	}
	out.Permissions = AskedBy(row.Package, b)
	return out
}

// whyNothing says why nothing is known of a package's features; empty where something is.
func whyNothing(row catalogue.Row) string {
	switch {
	case row.Channel == nil:
		return "the package has no default channel"
	case row.Channel.Invalid:
		return "the default channel has no single head"
	case row.Bundle == nil:
		return "the catalogue does not have the head of the default channel"
	case row.Bundle.Metadata == nil:
		return "the catalogue has no metadata of this version that can be used"
	}
	return ""
}

// Takes is for people whose tokens the operator takes: the clouds that it supports, or what is known
// where it supports none. With a cloud it is the answer for that one.
func (r Row) Takes(cloud *catalogue.Cloud) string {
	if cloud != nil {
		return Spoken(r.Tokens[cloud.String()])
	}
	var supported []string
	rest := "-"
	for _, c := range Clouds() {
		switch said := r.Tokens[c.String()]; said {
		case "yes":
			supported = append(supported, c.String())
		case "unknown", "claimed":
			rest = said
		}
	}
	if len(supported) > 0 {
		return strings.Join(supported, ",")
	}
	return rest
}
