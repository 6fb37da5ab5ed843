package listing

import "github.com/tabard-dev/tabard/internal/core/catalogue"

// Filter is what to list. The zero value lists every operator that stands alone.
type Filter struct {
	// Tokens is the cloud that TokenAuth is about; nil is any cloud.
	Tokens *catalogue.Cloud
	// TokenAuth is one of TokenAuths, or empty for any.
	TokenAuth string
	// Features must all be supported.
	Features []catalogue.Feature
	// Permissions is one of PermissionStates, or empty for any.
	Permissions string
	// Provider and Category are compared without regard to case.
	Provider, Category string
	// Search are words that must all be in the name, display name, provider or short description,
	// without regard to case.
	Search string
	// All lists operators that do not stand alone, too.
	All bool
	// Installed are the Subscriptions of a package: one without any is left out. With nil none are
	// asked for, and the rows tell of none.
	Installed func(*catalogue.Package) []Install
}

// TokenAuths are the values of Filter.TokenAuth: yes asks for operators that support tokens, no for
// those that say otherwise or nothing, and unknown for those without metadata, and those that claim
// support without naming a cloud.
func TokenAuths() []string { return []string{string(Yes), string(No), string(Unknown)} }

// The values of Filter.Permissions.
const (
	permissionsKnown     = "known"
	permissionsUnknown   = "unknown"
	permissionsSensitive = "sensitive"
	permissionsNone      = "none"
)

// PermissionStates are the values of Filter.Permissions: known asks for operators that declare what
// they ask the cloud for, unknown for those that declare nothing that can be read, sensitive for those
// of which some is sensitive, and none for those that declare that they ask for nothing.
func PermissionStates() []string {
	return []string{permissionsKnown, permissionsUnknown, permissionsSensitive, permissionsNone}
}

// FeatureNames are the names of the features that can be asked for; catalogue.FeatureNamed reads them.
func FeatureNames() []string {
	var out []string
	for f := catalogue.Disconnected; f <= catalogue.SingleNode; f++ {
		out = append(out, f.String())
	}
	return out
}

// Listing is what a filter leaves of a catalogue.
type Listing struct {
	// Items are the packages that are known to match, by name.
	Items []Row `json:"items"`
	// Total counts the packages of the catalogue, and Unknown those of which it is not known
	// whether they match.
	Total   int `json:"total"`
	Unknown int `json:"unknown"`
	// NotStandalone counts those that would match, and are left out because they do not stand
	// alone.
	NotStandalone int `json:"notStandalone"`
}

// List is what a filter leaves. placeOf says where a package was read.
//
// It asks each package by itself, because what people ask is more than the catalogue's own filter
// does: a package that does not match by one filter is not unknown by another.
func List(c *catalogue.Catalogue, f Filter, placeOf func(*catalogue.Package) Place) Listing {
	out := Listing{Items: []Row{}, Total: len(c.Packages)}
	filter := catalogue.Filter{Features: f.Features, Provider: f.Provider, Category: f.Category, Search: f.Search, All: true}
	for i := range c.Packages {
		one := catalogue.Catalogue{Packages: c.Packages[i : i+1]}
		listed := one.List(filter)
		if len(listed.Rows)+listed.Unknown == 0 {
			continue
		}
		// A filter that asks nothing lists every package.
		found := one.List(catalogue.Filter{All: true}).Rows[0]
		tokens := f.matchesTokens(found)
		if tokens == No {
			continue
		}
		r := RowOf(found, placeOf(found.Package))
		if f.Installed != nil {
			if r.Installed = f.Installed(found.Package); len(r.Installed) == 0 {
				continue
			}
		}
		matches := worst(tokens, f.matchesPermissions(r.Permissions))
		if listed.Unknown > 0 {
			matches = worst(matches, Unknown)
		}
		alone := f.All || len(one.List(catalogue.Filter{}).Rows) > 0
		switch {
		case matches == No:
		case !alone:
			out.NotStandalone++
		case matches == Unknown:
			out.Unknown++
		default:
			out.Items = append(out.Items, r)
		}
	}
	return out
}

// matchesTokens answers TokenAuth, for the cloud that was chosen or for any.
func (f Filter) matchesTokens(r catalogue.Row) Answer {
	if f.TokenAuth == "" {
		return Yes
	}
	asked := Clouds()
	if f.Tokens != nil {
		asked = []catalogue.Cloud{*f.Tokens}
	}
	supports := No
	for _, c := range asked {
		switch one := supportOf(r.Bundle, c); {
		case one == catalogue.Yes:
			supports = Yes
		case (one == catalogue.Unknown || one == catalogue.Claimed) && supports == No:
			supports = Unknown
		}
	}
	switch {
	case string(supports) == f.TokenAuth:
		return Yes
	case supports == Unknown:
		return Unknown
	}
	return No
}

// matchesPermissions answers Permissions.
func (f Filter) matchesPermissions(p Asked) Answer {
	switch {
	case f.Permissions == "":
		return Yes
	case f.Permissions == permissionsKnown:
		return answerOf(p.State != StateUnknown)
	case f.Permissions == permissionsUnknown:
		return answerOf(p.State == StateUnknown)
	case p.State == StateUnknown:
		return Unknown
	case f.Permissions == permissionsNone:
		return answerOf(p.Count == 0 && p.nothing)
	case p.Sensitive == 0 && p.Incomplete:
		return Unknown
	}
	return answerOf(p.Sensitive > 0)
}
