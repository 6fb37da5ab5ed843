package catalogue

import (
	"slices"
	"strings"
)

// Filter is what to list. The zero value lists every operator that stands alone.
type Filter struct {
	// Cloud and Tokens ask for packages of which the support for that cloud's tokens is this.
	// Tokens nil asks for any.
	Cloud  Cloud
	Tokens *Support
	// Features must all be supported.
	Features []Feature
	// Provider and Category are compared without regard to case.
	Provider, Category string
	// Demand asks for packages with this declaration; nil asks for any.
	Demand *Demand
	// Search are words that must all be in the name, display name, provider or short
	// description, without regard to case.
	Search string
	// All lists operators that do not stand alone, too.
	All bool
}

// Row is a package with the bundle that a new install takes.
type Row struct {
	Package *Package
	// Channel is the default channel; nil if the package has none.
	Channel *Channel
	// Bundle is the channel's head; nil if the channel is invalid or the source does not have
	// the bundle.
	Bundle *Bundle
}

// Listing is what a filter leaves.
type Listing struct {
	Rows []Row
	// Total counts the packages of the catalogue.
	Total int
	// Unknown counts packages that are not in Rows because what the filter asks for is not
	// known of them. Nobody may take them for packages that do not match.
	Unknown int
}

// answer is whether a package matches. A "no" outweighs an "unknown".
type answer int

const (
	yes answer = iota
	unknown
	no
)

// List is the packages that match, by name. The rows point into the catalogue.
func (c *Catalogue) List(f Filter) Listing {
	listing := Listing{Total: len(c.Packages)}
	words := strings.Fields(strings.ToLower(f.Search))
	for i := range c.Packages {
		row := c.Packages[i].row()
		switch max(f.tokens(row), f.features(row), f.metadata(row), searched(row, words)) {
		case yes:
			listing.Rows = append(listing.Rows, row)
		case unknown:
			listing.Unknown++
		}
	}
	return listing
}

func (p *Package) row() Row {
	row := Row{Package: p}
	i := slices.IndexFunc(p.Channels, func(c Channel) bool { return c.Name == p.DefaultChannel })
	if i < 0 {
		return row
	}
	row.Channel = &p.Channels[i]
	head, ok := slices.BinarySearchFunc(p.Bundles, row.Channel.Head, func(b Bundle, name string) int { return strings.Compare(b.Name, name) })
	if ok {
		row.Bundle = &p.Bundles[head]
	}
	return row
}

func (f Filter) tokens(row Row) answer {
	if f.Tokens == nil {
		return yes
	}
	support := Unknown
	if row.Bundle != nil {
		support = row.Bundle.Features.Tokens[f.Cloud]
	}
	switch {
	case support == *f.Tokens:
		return yes
	case support == Unknown:
		return unknown
	}
	return no
}

func (f Filter) features(row Row) answer {
	worst := yes
	for _, feature := range f.Features {
		switch {
		case row.Bundle == nil || row.Bundle.Features.Others[feature] == Unknown:
			worst = max(worst, unknown)
		case row.Bundle.Features.Others[feature] != Yes:
			return no
		}
	}
	return worst
}

// metadata asks what only the bundle's metadata tells.
func (f Filter) metadata(row Row) answer {
	known := row.Bundle != nil && row.Bundle.Metadata != nil
	if !known {
		if f.Provider != "" || f.Category != "" || (f.Demand != nil && *f.Demand != DemandUnknown) {
			return unknown
		}
		return yes
	}
	m := row.Bundle.Metadata
	switch {
	case !f.All && m.Annotations[OperatorType] == "non-standalone",
		f.Provider != "" && !strings.EqualFold(m.Provider, f.Provider),
		f.Category != "" && !slices.ContainsFunc(row.Bundle.Categories(), func(c string) bool { return strings.EqualFold(c, f.Category) }):
		return no
	}
	if f.Demand != nil {
		switch demand := row.Bundle.Demand(); {
		case demand == *f.Demand:
		case demand == DemandUnknown:
			return unknown
		default:
			return no
		}
	}
	return yes
}

// searched looks for all words. A word that is in no known text may be in an unknown one.
func searched(row Row, words []string) answer {
	if len(words) == 0 {
		return yes
	}
	texts := row.Package.Name
	missing := unknown
	if row.Bundle != nil && row.Bundle.Metadata != nil {
		m := row.Bundle.Metadata
		texts += "\n" + m.DisplayName + "\n" + m.Provider + "\n" + m.Annotations[Description]
		missing = no
	}
	texts = strings.ToLower(texts)
	for _, word := range words {
		if !strings.Contains(texts, word) {
			return missing
		}
	}
	return yes
}
